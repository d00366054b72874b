import type { Route } from "./+types/home";

export function meta() {
  return [{ title: "{{name}}" }];
}

// The loader runs in the worker, for each request of the page.
export function loader({ context }: Route.LoaderArgs) {
  return { greeting: context.env.GREETING };
}

export default function Home({ loaderData }: Route.ComponentProps) {
  return <h1>{loaderData.greeting}</h1>;
}
