import { json } from "@sveltejs/kit";

export const GET = ({ url }) => json({ hello: url.searchParams.get("name") ?? "world" });
