export default defineEventHandler((event) => readBody(event));
