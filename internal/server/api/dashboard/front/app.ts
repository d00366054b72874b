// The script of the dashboard. Pages work without it; it keeps them up to date.
import { follow } from "./events";
import { dialogs } from "./dialog";
import { keys } from "./keys";
import { logs } from "./logs";
import { ages, filters } from "./page";

function start(): void {
  follow(document.body.dataset.events);
  ages();
  filters();
  keys();
  dialogs();
  logs();
}

// The page is shown first. A page in the background is never painted.
if (document.hidden) start();
else requestAnimationFrame(() => setTimeout(start));
