// Passkeys of clerks, guests and signers. A module, so that it runs once however many forms load it.

// The server's options for a sign-in: `publicKey`, or a `message`.
const ask = async body => (await fetch('/api/auth/login/bio-web-option', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
})).json();
const parse = asked => PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);

// Sign-in by passkey: the server sends a challenge, and the authenticator's answer is submitted in a form.
const passkey = document.getElementById('passkey');
if (passkey && window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    const username = document.getElementById('username');
    const { purpose, entry } = passkey.dataset;
    const say = text => {
        const problem = passkey.querySelector('.problem');
        problem.textContent = text;
        problem.hidden = !text;
    };
    const send = credential => {
        for (const name of ['username', 'comment']) {
            if (passkey.elements[name]) passkey.elements[name].value = document.getElementById(name).value;
        }
        passkey.elements.credential.value = JSON.stringify(credential.toJSON());
        passkey.submit();
    };
    // The browser lists passkeys under the field for the username while the page is open. Asked anew before the challenge
    // ends, when somebody looks.
    let offered = new AbortController();
    const offer = async () => {
        offered.abort();
        const { signal } = offered = new AbortController();
        const asked = await ask({ discoverable: true, purpose });
        if (!asked.publicKey || signal.aborted) return;
        const renew = () => signal.aborted || offer().catch(() => {});
        setTimeout(() => document.hidden ? document.addEventListener('visibilitychange', renew, { once: true }) : renew(), 240_000);
        send(await navigator.credentials.get({ publicKey: parse(asked), mediation: 'conditional', signal }));
    };
    const offerIfPossible = async () => {
        if (!username.autocomplete.includes('webauthn')) return;
        if (await PublicKeyCredential.isConditionalMediationAvailable?.()) await offer();
    };
    offerIfPossible().catch(() => {});
    passkey.addEventListener('submit', async event => {
        event.preventDefault();
        say('');
        const name = username.value.trim();
        // A signer is named; for a sign-in the passkey tells whose it is.
        if (!name && passkey.dataset.noName) {
            say(passkey.dataset.noName);
            return username.focus();
        }
        offered.abort();
        try {
            const asked = await ask(name ? { username: name, purpose, entry_id: entry } : { discoverable: true, purpose });
            if (!asked.publicKey) return say(asked.message);
            send(await navigator.credentials.get({ publicKey: parse(asked) }));
        } catch {
            say(passkey.dataset.failed);
            offerIfPossible().catch(() => {});
        }
    });
} else if (passkey) {
    passkey.remove();
}

// A signer's passkey signs the text of the form. The server builds the same text from the submitted fields.
document.querySelectorAll('button[data-passkey]').forEach(button => {
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return button.remove();
    const form = button.form, problem = form.querySelector('.problem.late');
    const say = text => {
        problem.textContent = text;
        problem.hidden = !text;
    };
    button.addEventListener('click', async () => {
        say('');
        const username = form.elements.username;
        if (!username.value.trim()) {
            say(button.dataset.noName);
            return username.focus();
        }
        if ([...form.elements].some(field => field.type !== 'password' && !field.reportValidity())) return;
        const bound = button.dataset.bound.split(' ');
        const said = [...new FormData(form)].filter(([name]) => bound.includes(name)).map(([name, value]) => `${name}=${value}`);
        try {
            const paper = `${button.dataset.paper}?${said.join('&')}`;
            const asked = await ask({ username: username.value, purpose: 'sign_paper', paper });
            if (!asked.publicKey) return say(asked.message);
            const credential = await navigator.credentials.get({ publicKey: parse(asked) });
            form.elements.credential.value = JSON.stringify(credential.toJSON());
            form.elements.password.value = '';
            form.submit();
        } catch {
            say(button.dataset.failed);
        }
    });
});
