export function GET({ url }) {
  return Response.json({ hello: url.searchParams.get("name") ?? "world" });
}
