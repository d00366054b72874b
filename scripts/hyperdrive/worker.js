// A worker that uses MySQL by Hyperdrive with the driver mysql2.
import mysql from "mysql2/promise";

const connect = (db, more) =>
  mysql.createConnection({ host: db.host, port: db.port, user: db.user, password: db.password, database: db.database, disableEval: true, ...more });

// cipher is that of the connection to the server, which the driver knows nothing of.
async function cipher(db) {
  const connection = await connect(db);
  const [[row]] = await connection.query("SHOW STATUS LIKE 'Ssl_cipher'");
  await connection.end();
  return row.Value;
}

// work gives what a real application does: prepared statements, large values, transactions, many connections.
async function work(db) {
  const connection = await connect(db);
  await connection.query("CREATE TABLE IF NOT EXISTS items (id INT PRIMARY KEY AUTO_INCREMENT, name TEXT, body LONGBLOB)");
  await connection.query("DELETE FROM items");
  const body = Buffer.alloc(1 << 20, "0123456789abcdef");
  for (let i = 0; i < 5; i++) await connection.execute("INSERT INTO items (name, body) VALUES (?, ?)", [`item ${i}`, body]);
  await connection.beginTransaction();
  await connection.execute("INSERT INTO items (name) VALUES (?)", ["undone"]);
  await connection.rollback();
  const [rows] = await connection.execute("SELECT name, body FROM items WHERE name LIKE ? ORDER BY id", ["item %"]);
  await connection.end();
  const many = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const one = await connect(db);
      const [[row]] = await one.execute("SELECT ? + 1 AS next", [i]);
      await one.end();
      return Number(row.next);
    }),
  );
  return { rows: rows.length, equal: rows.every((row) => body.equals(row.body)), sum: many.reduce((a, b) => a + b) };
}

export default {
  async fetch(request, env) {
    const [, binding, operation] = new URL(request.url).pathname.split("/");
    const db = env[binding];
    try {
      switch (operation) {
        case "cipher":
          return Response.json(await cipher(db));
        case "work":
          return Response.json(await work(db));
        case "wrong":
          await connect(db, { password: "wrong" });
          return new Response("logged in");
      }
    } catch (e) {
      return new Response(`${e.errno} ${e.message}`);
    }
  },
};
