// Writes the first folder of a collection as newman or bru runs it, in two parts: before the address is confirmed, and after.
//   node collection.mjs postman|bruno USERNAME COLLECTION DIRECTORY
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const [program, username, file, directory] = process.argv.slice(2);
const collection = JSON.parse(readFileSync(file, 'utf8'));
const { partner, tunnel_id } = JSON.parse(readFileSync(`${process.env.CLIENT_DATA}/demo.json`, 'utf8'));
const filled = { username, client_id: partner.client_id, secret: partner.secret, tunnel_id: String(tunnel_id) };
const variable = collection.variable.map(one => ({ ...one, value: filled[one.key] ?? one.value }));
const steps = collection.item[0].item;
const parts = [steps.slice(0, 1), steps.slice(1)];

const postman = async (part, number) => writeFileSync(`${directory}/${number}.json`, JSON.stringify(part));

const bruno = async (part, number) => {
  const { postmanToBruno } = await import('@usebruno/converters');
  const { stringifyCollection, stringifyRequest } = (await import('@usebruno/filestore')).default;
  const made = (await postmanToBruno(part)).collection, format = { format: 'bru' };
  mkdirSync(`${directory}/${number}`);
  writeFileSync(`${directory}/${number}/bruno.json`, JSON.stringify({ version: '1', name: made.name, type: 'collection' }));
  writeFileSync(`${directory}/${number}/collection.bru`, await stringifyCollection(made.root, null, format));
  for (const [at, one] of made.items.entries()) {
    writeFileSync(`${directory}/${number}/${at + 1}.bru`, await stringifyRequest({ ...one, seq: at + 1 }, format));
  }
};

mkdirSync(directory);
for (const [at, item] of parts.entries()) {
  await (program === 'bruno' ? bruno : postman)({ ...collection, variable, item }, at + 1);
}
