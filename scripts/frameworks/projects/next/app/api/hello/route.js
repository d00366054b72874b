export async function GET(request) {
  return Response.json({ hello: new URL(request.url).searchParams.get("name") ?? "world" });
}
