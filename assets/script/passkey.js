// Passkeys of clerks, guests and signers. A module, so that it runs once however many forms load it.

// Sign-in by passkey: the server sends a challenge, and the authenticator's answer is submitted in a form.
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
                body: JSON.stringify({ username: username.value, purpose: passkey.dataset.purpose, entry_id: passkey.dataset.entry }),
            });
            const asked = await reply.json();
            if (!asked.publicKey) return say(asked.message);
            const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);
            const credential = await navigator.credentials.get({ publicKey });
            for (const name of ['username', 'comment']) {
                if (passkey.elements[name]) passkey.elements[name].value = document.getElementById(name).value;
            }
            passkey.elements.credential.value = JSON.stringify(credential.toJSON());
            passkey.submit();
        } catch {
            say(passkey.dataset.failed);
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
            const reply = await fetch('/api/auth/login/bio-web-option', {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ username: username.value, purpose: 'sign_paper', paper: `${button.dataset.paper}?${said.join('&')}` }),
            });
            const asked = await reply.json();
            if (!asked.publicKey) return say(asked.message);
            const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);
            form.elements.credential.value = JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
            form.elements.password.value = '';
            form.submit();
        } catch {
            say(button.dataset.failed);
        }
    });
});
