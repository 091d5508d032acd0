// Fields of text for days and times, in the order of the page's language, where that of the browser is another. The browser's own field
// keeps its name, its value and its calendar.
'use strict';
{
    const PROBE = new Date(2033, 10, 22, 13, 44), page = document.documentElement.lang;
    const DAY = { day: '2-digit', month: '2-digit', year: 'numeric' }, TIME = { hour: '2-digit', minute: '2-digit' };
    const partsOf = (language, form) => new Intl.DateTimeFormat(language, form).formatToParts(PROBE);
    const orderOf = (language, form) => partsOf(language, form).map(one => one.type).filter(type => type !== 'literal').join();
    const differs = form => orderOf(page, form) !== orderOf(undefined, form);
    const two = number => String(number).padStart(2, '0');
    // Typed with or without what stands between the parts.
    const numbers = (text, lengths) => {
        let at = 0;
        const all = lengths.reduce((sum, one) => sum + one), short = text.length < all ? lengths.map(() => 2) : lengths;
        return /^\d{4,}$/.test(text) ? short.map(length => text.slice(at, at += length)).filter(Boolean) : text.split(/\D+/).filter(Boolean);
    };
    const dayOf = text => {
        const order = partsOf(page, DAY).map(one => one.type).filter(type => type in DAY);
        const typed = numbers(text, order.map(type => type === 'year' ? 4 : 2));
        if (typed.length !== 3) return '';
        let { year, month, day } = Object.fromEntries(order.map((type, at) => [type, Number(typed[at])]));
        if (year < 100) year += year > new Date().getFullYear() % 100 + 5 ? 1900 : 2000;
        const found = new Date(Date.UTC(year, month - 1, day));
        return found.getUTCMonth() === month - 1 && found.getUTCDate() === day ? `${year}-${two(month)}-${two(day)}` : '';
    };
    const shownDay = value => value && new Intl.DateTimeFormat(page, { ...DAY, timeZone: 'UTC' }).format(new Date(value));
    const timeOf = text => {
        const [hour, minute = '00'] = numbers(text.replace(/^\d{3}$/, '0$&'), [2, 2]);
        return hour < 24 && minute < 60 ? `${two(hour)}:${two(minute)}` : '';
    };
    const ORDER = { day: 'd', month: 'm', year: 'y' };
    const stand = (own, read, show, hint, order) => {
        const text = Object.assign(document.createElement('input'), { type: 'text', className: 'typed-day', inputMode: 'numeric', autocomplete: 'off', maxLength: 10, placeholder: hint, required: own.required, value: show(own.value) });
        text.dataset.order = order;
        for (const name of ['aria-label', 'aria-describedby', 'aria-invalid', 'autofocus']) if (own.hasAttribute(name)) text.setAttribute(name, own.getAttribute(name));
        const box = Object.assign(document.createElement('span'), { className: `day-field ${own.type}` });
        own.before(box);
        box.append(text, own);
        // The label and the focus are the text's.
        [text.id, own.id] = [own.id, ''];
        own.required = false;
        own.tabIndex = -1;
        own.setAttribute('aria-hidden', 'true');
        if (own.autofocus) text.focus();
        const judge = () => {
            const typed = text.value.trim(), value = typed && read(typed);
            own.value = value;
            // The browser's words of a day that is none, or is out of bounds.
            text.setCustomValidity(typed && !value ? hint : own.validity.valid ? '' : own.validationMessage);
        };
        text.addEventListener('input', judge);
        text.addEventListener('change', event => {
            judge();
            // A form that is sent at each change waits for a day that is one.
            if (!own.value && text.value.trim()) event.stopPropagation();
            else text.value = show(own.value);
        });
        own.addEventListener('change', () => { text.value = show(own.value); judge(); });
        // What is filled in again arrives by the name of the browser's field.
        own.shows = () => { text.value = show(own.value); };
    };
    const hintOf = form => partsOf(page, form).map(one => ({ day: page === 'fr' ? 'jj' : page === 'de' ? 'TT' : page === 'it' ? 'gg' : 'dd', month: page === 'de' ? 'MM' : 'mm', year: page === 'de' ? 'JJJJ' : 'aaaa' })[one.type] ?? one.value).join('');
    // A telephone's own calendar is better than typing.
    if (!matchMedia('(pointer: coarse)').matches) {
        const order = partsOf(page, DAY).map(one => ORDER[one.type] ?? '').join('');
        if (differs(DAY)) document.querySelectorAll('input[type=date]').forEach(one => stand(one, dayOf, shownDay, hintOf(DAY), order));
        if (differs(TIME)) document.querySelectorAll('input[type=time]').forEach(one => stand(one, timeOf, value => value, '13:45', 'hm'));
    }
}

// The browser's own field is the calendar beside the text.
{
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
        .day-field { position: relative; display: block; }
        .day-field > [type=date], .day-field > [type=time] { position: absolute; inset: 0 0 0 auto; width: 2.75rem; min-height: 0; padding: 0 .6rem 0 0; border-color: transparent; background: none; overflow: hidden; }
        .day-field > ::-webkit-datetime-edit { display: none; }
        .day-field > ::-webkit-calendar-picker-indicator { margin-left: auto; }
        .days .day-field > .typed-day { width: 9.5rem; }
        .day-field.time > [type=time] { display: none; }
    `);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
