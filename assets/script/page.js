// Progressive enhancement of every page; all work without this script.
'use strict';
document.documentElement.classList.add('scripted');

// A form with `data-once` is sent only once, whatever is clicked or tapped.
addEventListener('submit', event => {
    const form = event.target;
    if (!('once' in form.dataset)) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
});
addEventListener('pageshow', () => document.querySelectorAll('form[data-sent]').forEach(form => delete form.dataset.sent));

// A page that was refused begins at its problem, however far down the form is.
{
    const problem = document.querySelector('main .problem[role=alert]:not([hidden])');
    // At a kiosk a field that has the focus opens the keys over the page.
    const focuses = !document.documentElement.classList.contains('kiosk') && !document.querySelector('[autofocus]');
    // The field that names the problem, else the first field of the form below it in the same part of the page.
    const after = form => problem.compareDocumentPosition(form) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINS);
    const first = () => [...problem.closest('section')?.querySelectorAll('form') ?? []].find(after)?.querySelector('input:not([type=hidden]):not([hidden]), select, textarea');
    const named = () => problem.id && document.querySelector(`[aria-describedby~="${problem.id}"]`);
    if (problem && focuses) (named() || first())?.focus({ preventScroll: true });
    problem?.scrollIntoView({ block: 'center', behavior: 'instant' });
}

// Buttons that print the page or copy a list, for secrets that are shown once.
document.querySelectorAll('[data-print]').forEach(button => button.addEventListener('click', () => print()));
document.querySelectorAll('[data-copy]').forEach(button => button.addEventListener('click', async () => {
    const rows = [...document.getElementById(button.dataset.copy).children].map(row => row.textContent);
    await navigator.clipboard.writeText(rows.join('\n'));
    button.textContent = button.dataset.copied;
}));
