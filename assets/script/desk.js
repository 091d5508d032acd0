// The little that pages cannot do by themselves. Everything but passkeys works without it.
'use strict';
document.documentElement.classList.add('scripted');

// A form that was sent is not sent again by an impatient second click.
addEventListener('submit', event => {
    const form = event.target;
    if (!('once' in form.dataset)) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
});
addEventListener('pageshow', () => document.querySelectorAll('form[data-sent]').forEach(form => delete form.dataset.sent));

// Signing in by a passkey: the site asks, the authenticator answers, and the answer goes into a form like any other.
const passkey = document.getElementById('passkey');
if (passkey && window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    const say = text => {
        const problem = passkey.querySelector('.problem');
        problem.textContent = text;
        problem.hidden = !text;
    };
    passkey.addEventListener('submit', async event => {
        event.preventDefault();
        say('');
        const username = document.getElementById('username');
        if (!username.value.trim()) {
            say(passkey.dataset.noName);
            return username.focus();
        }
        try {
            const reply = await fetch('/api/auth/login/bio-web-option', {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ username: username.value }),
            });
            const asked = await reply.json();
            if (!asked.publicKey) return say(asked.message);
            const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);
            const credential = await navigator.credentials.get({ publicKey });
            passkey.elements.credential.value = JSON.stringify(credential.toJSON());
            passkey.submit();
        } catch {
            say(passkey.dataset.failed);
        }
    });
} else if (passkey) {
    passkey.remove();
}
