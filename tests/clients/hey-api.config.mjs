export default {
  input: './openapi.json',
  output: 'made',
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', 'zod'],
};
