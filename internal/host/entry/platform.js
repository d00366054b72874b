// What the entry module needs of the platform's modules. Some of them are loaded for what they do.
export { admit } from "svc-internal:alarms";
export { entered, left } from "svc-internal:collect";
export { report } from "svc-internal:console";
export { Invocation, current, run } from "svc-internal:context";
export { Call, naming, watchNoRetry } from "svc-internal:record";
export { begin } from "svc-internal:trace";
export { underWay, waiting, watch } from "svc-internal:waiting";
import "svc-internal:subrequests";
import "svc-internal:websocket";
