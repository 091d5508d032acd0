// Forms at a kiosk: keys that wet hands hit and, where a form has steps, one question at a time.
'use strict';
for (const form of document.querySelectorAll('[data-steps], [data-typing]')) {
    const steps = 'steps' in form.dataset ? [...form.querySelectorAll('.step')] : [];
    const [along, count, board] = ['[data-along]', '[data-count]', '[data-keys]'].map(name => form.querySelector(name));
    const [before, next] = ['[data-before]', '[data-next]'].map(name => form.querySelector(name));
    /** Keys that the language of the page has beside the alphabet. */
    const LETTERS = { de: 'äöüß', fr: 'éèêçàôï', es: 'ñáéíóú', it: 'àèéìòù', en: 'éöüñç' };
    /** Letters of the languages of Europe, by the letter of the alphabet that they resemble. */
    const ACCENTS = {
        a: 'àáâãäåæāăą', c: 'çćč', d: 'ďđð', e: 'èéêëēėęě', g: 'ğģ', i: 'ìíîïīįı', k: 'ķ', l: 'ĺļľł', n: 'ñńņňŋ',
        o: 'òóôõöøőœ', r: 'ŕř', s: 'śşșšß', t: 'ţțťþ', u: 'ùúûüūůűų', w: 'ŵ', y: 'ýÿŷ', z: 'źżž',
    };
    const ROWS = { de: ['qwertzuiop', 'asdfghjkl', 'yxcvbnm'], fr: ['azertyuiop', 'qsdfghjklm', 'wxcvbn'] };
    /** What mail addresses end in. */
    const ENDINGS = ['@gmail.com', '@icloud.com', '@outlook.com', '.com'];
    const language = document.documentElement.lang;
    const narrow = matchMedia('(max-width: 40rem)');
    /** The keys of a longer form lie over the page, and go away again, so that what they cover can be reached. */
    const over = 'away' in board.dataset;
    /** `accent`: whether the next letter is chosen among those that resemble the key, or the key of which they are shown. */
    let at = 0, field, shift = false, accent = false;

    const type = text => {
        if (field.value.length + text.length <= field.maxLength) field.value += text;
        field.dispatchEvent(new Event('input', { bubbles: true }));
    };
    const key = (shown, done, more = {}) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = shown;
        button.tabIndex = -1;
        Object.assign(button, more);
        button.addEventListener('click', () => { done(); field.focus(); });
        return button;
    };
    const row = keys => {
        const line = document.createElement('div');
        line.className = 'line';
        line.append(...keys);
        return line;
    };
    /** ß has no capital that names are written with. */
    const capitalOf = one => one === 'ß' ? one : one.toUpperCase();
    const letter = one => key(shift ? capitalOf(one) : one, () => {
        if (accent === true && ACCENTS[one]) accent = one;
        else {
            type(shift ? capitalOf(one) : one);
            shift = accent = false;
        }
        draw();
    }, { disabled: accent === true && !ACCENTS[one] });
    const accents = () => key('áøł', () => { accent = !accent; draw(); }, { ariaLabel: `áøł: ${board.dataset.accents}`, ariaPressed: String(Boolean(accent)), className: 'wide' });
    /** The row of accents: those of the chosen key, else those of the page's language. */
    const also = () => typeof accent === 'string'
        ? [...[...ACCENTS[accent]].map(letter), accents()]
        : [...[...(LETTERS[language] ?? LETTERS.en)].map(letter), ...["'", '-'].map(one => key(one, () => type(one))), accents()];
    const erase = () => key('⌫', () => {
        field.value = field.value.slice(0, -1);
        if (!field.value && field.dataset.board === 'words') shift = true;
        draw();
    }, { ariaLabel: board.dataset.back, className: 'wide' });
    const capital = () => key('⇧', () => { shift = !shift; draw(); }, { ariaLabel: board.dataset.shift, ariaPressed: String(shift), className: 'wide' });
    const away = () => {
        if (!over) return [];
        const button = key('✓', () => {}, { ariaLabel: board.dataset.away, className: 'away' });
        button.addEventListener('click', () => { field.blur(); board.hidden = true; });
        return [button];
    };
    const draw = () => {
        const kind = field?.dataset.board;
        board.hidden = !kind || narrow.matches;
        if (!kind) return;
        // The keys stand in for the browser's own only where they are shown.
        for (const one of form.querySelectorAll('[data-board]')) one.inputMode = board.hidden ? one.dataset.native : 'none';
        const digits = [...'1234567890'];
        if (kind === 'digits' || kind === 'phone') {
            const keys = digits.map(one => key(one, () => type(one)));
            const plus = kind === 'phone' ? [key('+', () => type('+'))] : [];
            board.replaceChildren(row(keys.slice(0, 5)), row([...keys.slice(5), ...plus, erase(), ...away()]));
            return;
        }
        const rows = (ROWS[language] ?? ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']).map(line => [...line].map(letter));
        const sign = one => key(one, () => type(one));
        // An address has no capitals and no spaces, and signs of its own.
        if (kind === 'mail') {
            rows[1].push(sign('@'));
            rows[2].push(...['.', '-', '_', '+'].map(sign), erase());
        } else {
            rows[2].unshift(capital());
            rows[2].push(erase());
        }
        const all = kind === 'mail'
            ? [row(digits.map(sign)), ...rows.map(row), row([...ENDINGS.map(one => key(one, () => type(one), { className: 'wide' })), ...away()])]
            : [...rows.map(row), row(also()), row([key(board.dataset.space, () => { type(' '); shift = true; draw(); }, { className: 'space' }), ...away()])];
        board.replaceChildren(...all);
    };
    for (const one of form.querySelectorAll('[data-board]')) {
        one.dataset.native = one.inputMode || 'text';
        const take = () => {
            [field, accent] = [one, false];
            shift = one.dataset.board === 'words' && (!one.value || one.value.endsWith(' '));
            draw();
            if (over) one.scrollIntoView({ block: 'start', behavior: 'instant' });
        };
        one.addEventListener('focus', take);
        // A field with `autofocus` has the focus before this script runs.
        if (one === document.activeElement) take();
        // A full part of the date goes on to the next.
        if (one.dataset.board === 'digits') one.addEventListener('input', () => {
            const parts = [...one.closest('.step').querySelectorAll('input')];
            if (one.value.length >= one.maxLength) parts[parts.indexOf(one) + 1]?.focus();
        });
    }
    const show = place => {
        at = Math.max(0, Math.min(place, steps.length - 1));
        steps.forEach((step, number) => { step.hidden = number !== at; });
        count.textContent = `${at + 1} / ${steps.length}`;
        before.disabled = at === 0;
        next.hidden = at === steps.length - 1;
        field = undefined;
        board.hidden = true;
        steps[at].querySelector('input').focus();
    };
    const sound = () => [...steps[at].querySelectorAll('input')].every(one => one.reportValidity());
    before?.addEventListener('click', () => show(at - 1));
    next?.addEventListener('click', () => { if (sound()) show(at + 1); });
    form.addEventListener('keydown', event => {
        if (!steps.length || event.key !== 'Enter' || at === steps.length - 1 || event.target.tagName !== 'INPUT') return;
        event.preventDefault();
        if (sound()) show(at + 1);
    });
    narrow.addEventListener('change', draw);
    // The field keeps the focus while keys are touched, so that capitals and accents stay chosen.
    board.addEventListener('mousedown', event => event.preventDefault());
    // Beside a longer form the keys lie over the page: the field that is typed into is seen above them.
    if (over) addEventListener('pointerdown', event => {
        if (!board.contains(event.target) && !event.target.dataset?.board) board.hidden = true;
    }, { capture: true });
    if (steps.length) {
        along.hidden = false;
        show(Math.max(0, steps.findIndex(step => step.querySelector('.problem'))));
    }
}
