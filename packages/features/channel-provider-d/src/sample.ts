/** A delivery as the server makes it, for `svc webhook send` and tests. */
import type { Json, SampleMessage } from "@svc/contract";

/** No token of a real conversation has a hyphen. */
export const SAMPLE_ROOM = "svc-sample";

export const sampleActivity = ({ text, from, id }: SampleMessage & { readonly from: string }): Json => ({
  type: "Create",
  actor: { type: "Person", id: `users/${from}`, name: from, talkParticipantType: "3" },
  object: {
    type: "Note",
    id,
    name: "message",
    content: JSON.stringify({ message: text, parameters: [] }),
    mediaType: "text/markdown",
  },
  target: { type: "Collection", id: SAMPLE_ROOM, name: "Sample" },
});
