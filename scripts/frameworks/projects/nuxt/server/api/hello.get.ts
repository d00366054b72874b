export default defineEventHandler((event) => ({ hello: getQuery(event).name ?? "world" }));
