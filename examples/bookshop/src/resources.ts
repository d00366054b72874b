import type { Resource } from "./crud";
import { email, oneOf, optional, text, whole } from "./fields";

const id = whole(1, Number.MAX_SAFE_INTEGER);

export const resources: Record<string, Resource> = {
  authors: { table: "authors", fields: { name: text(100), born: optional(whole(0, 2100)) } },
  books: { table: "books", fields: { title: text(200), author_id: id, price: whole(0, 1_000_000), stock: whole(0, 100_000) } },
  tags: { table: "tags", fields: { label: text(40) } },
  customers: { table: "customers", fields: { name: text(100), email } },
  reviews: { table: "reviews", fields: { book_id: id, customer_id: id, stars: whole(1, 5), note: text(200) } },
  orders: { table: "orders", fields: { customer_id: id, state: oneOf("open", "paid", "sent") } },
  "order-lines": { table: "order_lines", fields: { order_id: id, book_id: id, quantity: whole(1, 1000) } },
  suppliers: { table: "suppliers", fields: { name: text(100), phone: optional(text(30)) } },
};
