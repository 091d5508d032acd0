// The clerk's account: adds a passkey.
'use strict';
const register = document.getElementById('register');
if (register && window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
    register.addEventListener('submit', async event => {
        event.preventDefault();
        const problem = register.querySelector('.problem');
        let refused;
        try {
            const body = new URLSearchParams({ name: register.elements.name.value });
            const reply = await fetch('/desk/account/passkeys/question', { method: 'POST', body });
            // The session has ended: the form leads to the sign-in.
            if (reply.redirected) return register.submit();
            if (!reply.ok) refused = new DOMParser().parseFromString(await reply.text(), 'text/html').querySelector('[data-said]')?.dataset.said;
            const asked = await reply.json();
            const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(asked.publicKey);
            register.elements.credential.value = JSON.stringify((await navigator.credentials.create({ publicKey })).toJSON());
            register.submit();
        } catch {
            problem.textContent = refused ?? register.dataset.failed;
            problem.hidden = false;
        }
    });
} else if (register) {
    register.remove();
}
