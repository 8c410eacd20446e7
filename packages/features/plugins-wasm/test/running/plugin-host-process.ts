/** The process of a plugin as a file of its own: what `svc __plugin-host` is in a binary. */
import { run } from "../../src/children/plugin-host.ts";

process.exitCode = await run();
