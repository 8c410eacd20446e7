/** Variables that look like settings and are none: who sets one believes that it does something. */
import { variableName, walkSchema } from "@svc/kernel";
import { ok, warning } from "../finding.ts";
import { DOCTOR_PART } from "../../service/self-command.ts";
import type { Check } from "./check.ts";

/** Read by svc beside the keys of the config. */
const OWN: ReadonlySet<string> = new Set(["SVC_HOME", DOCTOR_PART]);

export const variables: Check = {
  id: "variables",
  async find(machine) {
    const { features } = await machine.composition();
    const keys = walkSchema(features);
    const named = new Set(keys.map(({ node }) => node.marks.env));
    // Those with two underscores are the config check's: one that fits no key is an error there.
    const idle = Object.keys(machine.context.env).filter(
      (name) => name.startsWith("SVC_") && !name.startsWith("SVC__") && !OWN.has(name) && !named.has(name),
    );
    if (idle.length === 0) return [ok("variables", "No variable is set that svc does not read.")];
    const meant = new Map(keys.map((key) => [flat(variableName(key)), variableName(key)]));
    return idle.map((name) => {
      const variable = meant.get(flat(name));
      return warning(
        "variables",
        `${name} is set, and svc does not read it.`,
        variable ? `set ${variable} instead` : `unset ${name}`,
      );
    });
  },
};

const flat = (name: string): string => name.replaceAll("__", "_");
