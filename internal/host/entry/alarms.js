// workerd starts the alarms of Durable Objects by itself. They wait here while the host says that no
// event begins: before a version is production, while its project is read-only, in the hold of a
// release. The line above defines HELD, what the host says when workerd starts.
//
// For workerd the handler of an alarm that waits runs: getAlarm() gives null, the object stays in
// memory, and the alarm is still stored, so a workerd that starts later has it. After 15 minutes
// workerd ends a handler, resets the object and counts a failure, as it counts each exception; the
// seventh failure deletes the alarm. So an alarm that has waited for LONGEST is set again, for now, and
// the handler returns: workerd stores the new time before it takes the handler for done, begins the
// alarm again immediately, and counts its failures from zero.

const { min, max } = Math;
const { values } = Object;
const { now } = Date;
const wait = scheduler.wait.bind(scheduler); // workers may replace it

const LONGEST = 14 * 60_000; // ms
const SHORTEST = 50; // ms between two looks at held; a promise that the host's request resolves would not do for old compatibility dates
const FEWEST = 5000; // ms between two looks when the alarm has waited for long

let held = HELD;

// hold says whether alarms wait.
export const hold = (on) => (held = on);

// admit calls begin(), which calls the handler of an alarm of the object self, when alarms may begin.
export const admit = (self, begin) => (held ? later(self, begin) : begin());

async function later(self, begin) {
  const came = now();
  while (held) {
    const waited = now() - came;
    if (waited >= LONGEST) return again(self);
    await wait(min(max(SHORTEST, waited / 8), FEWEST));
  }
  return begin();
}

// again sets the alarm again. One that the worker has set meanwhile replaces it, as it would replace
// any alarm that has not begun.
async function again(self) {
  const storage = storageOf(self);
  if ((await storage.getAlarm()) === null) await storage.setAlarm(now());
}

// storageOf is the storage of an object. A class that does not extend DurableObject keeps it, or the
// state that has it, in a field.
function storageOf(self) {
  for (const value of [self.ctx, ...values(self)]) {
    const storage = value?.storage ?? value;
    if (typeof storage?.setAlarm === "function") return storage;
  }
  throw new Error("no alarm begins now, and this one cannot be set again: let the class extend DurableObject");
}
