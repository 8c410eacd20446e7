/** Two mailboxes that answer as the platform does, and its own client for either. */
import { startMailpush } from "@svc/testkit/platforms/mailpush/server";
import { createEmulator } from "emulate";
import { auth, gmail, type gmail_v1 } from "googleapis/build/src/apis/gmail/index.js";

export const OWN = "agent@example.com";
export const TOKEN = "access-token-of-the-mailbox";
export const TOPIC = "projects/my-project/topics/mail";
/** Made by a person: its id is not its name. */
export const LABEL = { id: "Label_7", name: "Agents" };

export interface OpenMailbox extends AsyncDisposable {
  readonly url: string;
}

/** https://github.com/vercel-labs/emulate, in this process, with nothing in the mailbox. */
export async function startEmulator(): Promise<OpenMailbox> {
  const { url, close } = await createEmulator({
    service: "google",
    port: 0,
    seed: {
      tokens: { [TOKEN]: { login: OWN, scopes: ["https://mail.google.com/"] } },
      google: { users: [{ email: OWN, name: "Agent" }], labels: [{ ...LABEL, user_email: OWN }] },
    },
  });
  return { url: `http://127.0.0.1:${new URL(url).port}`, [Symbol.asyncDispose]: close };
}

export const startOurs = (): Promise<OpenMailbox> =>
  startMailpush({ address: OWN, token: TOKEN, topics: [TOPIC], labels: { [LABEL.id]: LABEL.name }, now: Date.now });

export function clientOf({ url }: OpenMailbox, token: string = TOKEN): gmail_v1.Gmail {
  const credentials = new auth.OAuth2();
  credentials.setCredentials({ access_token: token });
  return gmail({ version: "v1", auth: credentials, rootUrl: `${url}/`, retry: false });
}
