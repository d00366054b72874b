import { json } from "@sveltejs/kit";

export const POST = async ({ request }) => json(await request.json());
