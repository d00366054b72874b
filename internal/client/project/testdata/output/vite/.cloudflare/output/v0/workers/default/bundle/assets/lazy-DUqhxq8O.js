// src/lazy.ts
var lazy = () => "later";
export { lazy };

//# sourceMappingURL=lazy-DUqhxq8O.js.map