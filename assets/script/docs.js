// The search for operations. Without this script the page is complete, and the browser's own search works.
'use strict';

const field = document.getElementById('search');
const found = document.getElementById('found');
const operations = [...document.querySelectorAll('main details.operation')];
const links = new Map([...document.querySelectorAll('nav .group a')].map(link => [link.hash.slice(1), link.parentElement]));
const texts = new Map();

// The text of an operation in lower case, read at the first search.
const textOf = operation => {
    if (!texts.has(operation)) texts.set(operation, operation.textContent.toLowerCase());
    return texts.get(operation);
};

const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const operation of operations) {
        const fits = words.every(word => textOf(operation).includes(word));
        operation.hidden = !fits;
        const link = links.get(operation.querySelector('.body').id);
        if (link) link.hidden = !fits;
        count += fits;
    }
    for (const group of document.querySelectorAll('.group')) {
        const shown = [...group.querySelectorAll('details.operation, li')].some(one => !one.hidden);
        group.hidden = !shown;
        if (group.matches('nav details')) group.open = words.length > 0 && shown;
    }
    document.body.classList.toggle('searching', words.length > 0);
    found.textContent = words.length ? `${count} of ${operations.length}` : '';
};

const open = () => {
    const first = operations.find(operation => !operation.hidden);
    if (!first || !field.value.trim()) return;
    first.open = true;
    location.hash = first.querySelector('.body').id;
};

field.parentElement.hidden = false;
field.addEventListener('input', search);
field.addEventListener('keydown', event => {
    if (event.key === 'Enter') open();
    if (event.key === 'Escape') {
        field.value = '';
        search();
    }
});
addEventListener('keydown', event => {
    if (event.key !== '/' || event.target.matches('input') || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
});

// A link into a closed operation opens it.
const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const operation = target && target.closest('details.operation');
    if (!operation) return;
    operation.open = true;
    target.scrollIntoView();
};
addEventListener('hashchange', reveal);
reveal();
if (field.value) search();
