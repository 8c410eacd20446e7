/** The suite for a daemon of an ordinary user's: run by itself, as that user. Prints what fails, and how many checks there are. */
import { failures } from "@svc/testkit/check";
import { sandboxChecks } from "@svc/testkit/conformance/sandbox-conformance";
import definition from "../src/index.ts";

const checks = sandboxChecks(definition, {});
for (const { name, error } of await failures(checks)) console.log(`${name}: ${String(error)}`);
console.log(`${checks.length} checks`);
process.exit();
