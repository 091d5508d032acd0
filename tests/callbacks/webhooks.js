// As webhooks.py, with the library in JavaScript.
'use strict';
const { Webhook } = require('../../target/standardwebhooks/node_modules/standardwebhooks');
const lines = require('node:fs').readFileSync(0, 'utf8').split('\n').filter(Boolean);
for (const line of lines) {
    const { secret, headers, body, now } = JSON.parse(line);
    Date.now = () => now * 1000;
    try {
        new Webhook(secret).verify(body, headers);
        console.log('verified');
    } catch (error) {
        console.log(`refused: ${error.message}`);
    }
}
