// The script of the dashboard. Pages work without it; it keeps them up to date.
import { follow } from "./events";
import { dialogs } from "./dialog";
import { keys } from "./keys";
import { logs } from "./logs";
import { ages, filters } from "./page";

follow(document.body.dataset.events);
ages();
filters();
keys();
dialogs();
logs();
