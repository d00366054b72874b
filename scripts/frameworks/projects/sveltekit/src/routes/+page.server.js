export async function load({ platform }) {
  const visits = Number((await platform.env.VISITS.get("visits")) ?? 0) + 1;
  await platform.env.VISITS.put("visits", String(visits));
  return { visits };
}
