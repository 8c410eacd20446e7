/** Where the world finds the service, if it does. */
import { askText } from "../../cli/prompts.ts";
import { publicUrlProblem } from "../public-url.ts";
import type { Setup } from "../setup.ts";

const KEY = "gateway.public_url";

export async function askPublicUrl({ draft }: Setup): Promise<void> {
  const text = await askText({
    message: "Public URL that providers call (blank: none)",
    placeholder: "https://svc.example.org",
    check: (text) => (text === "" ? undefined : (publicUrlProblem(text) ?? draft.problemWith(KEY, text))),
  });
  draft.set(KEY, text === "" ? undefined : text);
}
