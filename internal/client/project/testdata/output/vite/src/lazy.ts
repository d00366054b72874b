export const lazy = () => "later";
