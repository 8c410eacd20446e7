// What `svc __browser-keeper` does, for tests without a binary.
import { run } from "../src/children/browser-keeper.ts";

process.exitCode = await run(process.argv.slice(2));
