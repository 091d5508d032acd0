// Before each request. A partner's has the header client-id: its body is signed, or with x-nonce the request as a whole.
const now = String(Math.floor(Date.now() / 1000));
const nonce = pm.variables.replaceIn('{{$guid}}');
pm.variables.set('now', now);
pm.variables.set('nonce', nonce);
pm.variables.set('tomorrow', String(Number(now) + 86400));
if (!pm.variables.replaceIn('{{username}}')) pm.collectionVariables.set('username', 'test' + now);
if (pm.request.headers.has('client-id')) {
  // Bruno translates what it knows of Postman, and not the bodies.
  const raw = typeof bru === 'undefined' ? pm.request.body && pm.request.body.raw : req.getBody({ raw: true });
  const body = raw ? pm.variables.replaceIn(raw) : '';
  const path = pm.variables.replaceIn(pm.request.url.toString()).replace(/^https?:..[^/]*/, '');
  const whole = now + '.' + nonce + '.' + pm.request.method + ' ' + path + '.' + body;
  const text = pm.request.headers.has('x-nonce') ? whole : body;
  const secret = pm.variables.replaceIn('{{secret}}');
  pm.variables.set('signed', require('crypto-js').HmacSHA256(text, secret).toString());
}
