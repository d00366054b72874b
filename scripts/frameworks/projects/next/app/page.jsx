import { headers } from "next/headers";
import Link from "next/link";
import Counter from "./counter";

export default async function Page() {
  const from = (await headers()).get("x-visitor") ?? "a visitor";
  return (
    <main>
      <h1>Next</h1>
      <p>Rendered for {from}</p>
      <Counter />
      <Link id="about" href="/about">About</Link>
    </main>
  );
}
