const baseUrl = `${process.env.CLIENT_SITE}/api`;

export default {
  client: { input: './openapi.json', output: { target: 'made/client.ts', client: 'fetch', mode: 'single', baseUrl } },
  zod: { input: './openapi.json', output: { target: 'made/schemas.zod.ts', client: 'zod', mode: 'single' } },
};
