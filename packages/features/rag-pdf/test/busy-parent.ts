// Starts the process that reads with a file that never ends, tells its number once it is busy, and waits to be killed.
import { readdirSync, readFileSync } from "node:fs";
import { BOMBS } from "./bombs.ts";
import { CHILD, reading } from "./reading.ts";

void reading().read(BOMBS["a billion laughs of forms"]!());

/** Ticks of processor time: busy means well beyond what its start takes. */
const BUSY_TICKS = 60;
const timer = setInterval(() => {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
        .replace(/^.*\) /s, "")
        .split(" ");
      const isOurs = Number(stat[1]) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(CHILD);
      if (!isOurs || Number(stat[11]) < BUSY_TICKS) continue;
      clearInterval(timer);
      process.stdout.write(pid);
      setInterval(() => undefined, 1000);
      return;
    } catch {
      // It ended while it was looked at.
    }
  }
}, 10);
