/** Where the agent's commands run. What can't be used here is shown with its reason. */
import { choose } from "../../cli/prompts.ts";
import { sandboxOptions } from "../sandboxes.ts";
import type { Setup } from "../setup.ts";

const KEY = "security.sandbox.backend";

export async function askSandbox(setup: Setup): Promise<void> {
  const options = await sandboxOptions(setup, await setup.draft.load());
  const usable = options.filter(({ unavailable }) => unavailable === undefined);
  const auto =
    usable.length > 0
      ? `the strongest there is, here one of ${usable.map(({ backend }) => backend).join(", ")}`
      : "the strongest available; none is installed yet, so every command needs an approval";
  const backend = await choose("What confines the agent's commands?", [
    { value: "auto", label: "auto", hint: auto },
    ...options.map(({ backend, summary, unavailable }) => ({
      value: backend,
      label: unavailable === undefined ? backend : `${backend} (${unavailable})`,
      hint: summary,
      disabled: unavailable !== undefined,
    })),
    { value: "none", label: "none", hint: "commands may do whatever this user may" },
  ]);
  // A config that is there may say something else.
  setup.draft.set(KEY, backend === "auto" && !setup.draft.isChange ? undefined : backend);
}
