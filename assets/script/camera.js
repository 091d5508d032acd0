// Takes a photo with the camera: preview, take, review; the form submits it like a chosen file.
'use strict';
/** Longest side in pixels of a photo that is sent; the server scales it down further. */
const SENT_PIXELS = 1280;
/** JPEG quality, from 0 to 1. */
const QUALITY = 0.9;

document.querySelectorAll('form[data-snap]').forEach(form => {
    // The name of the chosen file, where the browser's own control is not shown.
    const picked = form.querySelector('[data-picked]');
    form.addEventListener('change', ({ target }) => { if (picked && target.files?.length) picked.textContent = target.files[0].name; });
    if (!navigator.mediaDevices?.getUserMedia) return;
    const part = name => form.querySelector(name);
    const [video, canvas, look, take, file, old] =
        ['video', 'canvas', '[data-look]', '[data-take]', 'input[type=file]', '.frame img'].map(part);
    const stop = () => video.srcObject?.getTracks().forEach(track => track.stop());
    const show = shown => [old, video, canvas].forEach(one => { if (one) one.hidden = one !== shown; });
    look.hidden = false;
    const start = async () => {
        try {
            video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'user', width: { ideal: SENT_PIXELS } } });
            show(video);
            await video.play();
            [look.hidden, take.hidden] = [true, false];
        } catch {
            look.hidden = true;
            show(old);
            part('[data-no-camera]').hidden = false;
        }
    };
    look.addEventListener('click', start);
    take.addEventListener('click', async () => {
        if (take.dataset.taken) {
            [take.textContent, take.dataset.again] = [take.dataset.again, take.textContent];
            delete take.dataset.taken;
            file.value = '';
            return start();
        }
        const [width, height] = [video.videoWidth, video.videoHeight];
        if (!width) return;
        const part = Math.min(1, SENT_PIXELS / Math.max(width, height));
        [canvas.width, canvas.height] = [Math.round(width * part), Math.round(height * part)];
        canvas.getContext('2d').drawImage(video, 0, 0, canvas.width, canvas.height);
        const jpeg = await new Promise(made => canvas.toBlob(made, 'image/jpeg', QUALITY));
        const held = new DataTransfer();
        held.items.add(new File([jpeg], 'photo.jpg', { type: 'image/jpeg' }));
        file.files = held.files;
        stop();
        show(canvas);
        [take.textContent, take.dataset.again] = [take.dataset.again, take.textContent];
        take.dataset.taken = 'yes';
        form.dispatchEvent(new Event('change', { bubbles: true }));
    });
    addEventListener('pagehide', stop);
});
