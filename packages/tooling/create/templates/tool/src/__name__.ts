/** `__tool__`: reads one file and counts. */
import { type Contributions, defineTool } from "@svc/contract";
import * as v from "valibot";

/** Further input is not counted, and the result says so: a huge log must not fill the memory. */
const MAX_BYTES = 1_048_576;

export const tool = defineTool({
  name: "__tool__",
  description: "Counts the lines, words and bytes of a text file in the workspace.",
  input: v.strictObject({
    path: v.pipe(v.string(), v.nonEmpty(), v.description("Path of the file, relative to the workspace.")),
  }),
  approval: "auto",
  async run({ path }, { workspace, signal }) {
    signal.throwIfAborted();
    const { bytes, truncated } = await workspace.read(path, MAX_BYTES);
    const text = new TextDecoder().decode(bytes);
    const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
    const words = text.match(/\S+/g)?.length ?? 0;
    return { lines, words, bytes: bytes.length, truncated };
  },
});

export const create = (): Contributions => ({ tools: [tool] });
