// Progressive enhancement of a member's own pages, which work without this script.
'use strict';
document.documentElement.classList.add('scripted');

// A form with `data-once` is sent only once, whatever is tapped.
addEventListener('submit', event => {
    const form = event.target;
    if (!('once' in form.dataset)) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
});
addEventListener('pageshow', () => document.querySelectorAll('form[data-sent]').forEach(form => delete form.dataset.sent));

// A page that was refused begins at its problem, however far down the form is.
document.querySelector('main .problem[role=alert]:not([hidden])')?.scrollIntoView({ block: 'center', behavior: 'instant' });
