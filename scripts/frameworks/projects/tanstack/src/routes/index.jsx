import { createFileRoute, Link } from "@tanstack/react-router";
import { createServerFn } from "@tanstack/react-start";
import { useState } from "react";

const greeting = createServerFn().handler(() => "from the server");

export const Route = createFileRoute("/")({ loader: () => greeting(), component: Home });

function Home() {
  const [count, setCount] = useState(0);
  return (
    <main>
      <h1>TanStack Start</h1>
      <p>Hello {Route.useLoaderData()}</p>
      <button id="count" onClick={() => setCount(count + 1)}>{count}</button>
      <Link id="about" to="/about">About</Link>
    </main>
  );
}
