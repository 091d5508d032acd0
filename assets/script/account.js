// Adds a passkey to an account, on the page of its owner.
'use strict';
const register = document.getElementById('register');
if (register && window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
    register.addEventListener('submit', async event => {
        event.preventDefault();
        const problem = register.querySelector('.problem');
        let refused;
        try {
            const body = new URLSearchParams({ name: register.elements.name.value });
            const reply = await fetch(register.dataset.question, { method: 'POST', body });
            // The session has ended: the form leads to the sign-in.
            if (reply.redirected) return register.submit();
            if (!reply.ok) {
                const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
                refused = page.querySelector('[data-said]')?.dataset.said ?? page.querySelector('.verdict')?.textContent;
            }
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
