// Files of a room: fetched by the share link where the server lets anybody in, refused where it asks for a person.
import { startProviderD } from "@svc/testkit/platforms/provider-d/server";
import { expect, test } from "vitest";
import { never, open, SECRET } from "./open-channel.ts";

const bytes = Buffer.from("%PDF-1.7 …");

async function fetched(openTo: "guests" | "members" | "who knows the password", mimeType = "application/pdf") {
  await using platform = await startProviderD({ secret: SECRET });
  const link = platform.share(bytes, mimeType, openTo);
  const { ingress, channel } = open({ base_url: platform.url, allowed_users: ["*"] });
  const content = JSON.stringify({
    message: "{file}",
    parameters: { file: { type: "file", name: "a.pdf", link, mimetype: mimeType } },
  });
  const payload = {
    type: "Activity",
    actor: { type: "Person", id: "users/ada", name: "Ada" },
    object: { type: "Note", id: "1", name: "", content },
    target: { id: "room" },
  };
  const request = { method: "POST", query: new URLSearchParams(), target: "/", headers: {}, receivedAtMs: 0 };
  const [message] = ingress.parse({ ...request, body: Buffer.from(JSON.stringify(payload)) }).inbound ?? [];
  const chunks: Uint8Array[] = [];
  const media = message!.media![0]!;
  const got = await channel.media.fetch(media, async (chunk) => void chunks.push(chunk), never);
  expect(platform.requests.at(-1)?.headers).not.toHaveProperty("authorization");
  return { got, bytes: Buffer.concat(chunks) };
}

test("of a conversation that is open to guests", async () => {
  expect(await fetched("guests")).toEqual({ got: { mimeType: "application/pdf" }, bytes });
  expect(await fetched("guests", "text/html")).toEqual({ got: { mimeType: "text/html" }, bytes });
});

test.each(["members", "who knows the password"] as const)("of one that is open to %s only: refused", async (openTo) => {
  await expect(fetched(openTo)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
});

test.each(["", "../../status.php", "http://169.254.169.254/", "a b"])("%j is no share", async (ref) => {
  const { channel } = open({}, () => Promise.reject(new Error("asked for")));
  const fetching = channel.media.fetch({ kind: "document", ref, placeholder: "" }, async () => undefined, never);
  await expect(fetching).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
});
