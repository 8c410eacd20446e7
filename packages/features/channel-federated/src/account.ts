/** The account and its device: whose the token is, logging in with a password, and `svc channels setup|test`. */
import { type Channel, type FeatureContext, SvcError } from "@svc/contract";
import { asCheckFailure, type Fields, fieldsOf, parseJson, pathPart, wordOf } from "@svc/kit";
import { isRefusal, type MatrixApi } from "./api.ts";
import { type Config, isGiven } from "./config.ts";
import { ROOM_ID } from "./config.ts";

export interface Identity {
  readonly userId: string;
  /** Undefined: the token belongs to no device, and encrypted rooms can't be read. */
  readonly deviceId: string | undefined;
}

export interface Account {
  /** Throws CHANNEL_DOWN before the first login. */
  token(): Promise<string>;
  /** Asked for once. Throws as `MatrixApi.call`, and CHANNEL_UNAUTHORIZED when the config names another account or device. */
  identity(signal: AbortSignal): Promise<Identity>;
  readonly check: NonNullable<Channel["check"]>;
  readonly setup: NonNullable<Channel["setup"]>;
  /** The homeserver has other keys of this device: the next setup makes a new one. */
  abandonDevice(): Promise<void>;
}

/** Name of the stored login among the feature's secrets. */
const LOGIN = "login";

interface Login {
  readonly userId: string;
  readonly deviceId: string;
  readonly token: string;
  readonly isAbandoned?: boolean;
}

/** `api`: made of the account's own token, hence asked for late. */
export function createAccount(
  api: () => MatrixApi,
  { config, secrets }: Pick<FeatureContext<Config>, "config" | "secrets">,
): Account {
  let asked: Identity | undefined;
  const storedLogin = async (): Promise<Login | undefined> => {
    const text = await secrets.get(LOGIN);
    const login = fieldsOf(text === undefined ? undefined : parseJson(Buffer.from(text)));
    // One of another account is of no use.
    return login["userId"] === config.user_id && typeof login["token"] === "string"
      ? (login as unknown as Login)
      : undefined;
  };
  const ask = async (signal: AbortSignal): Promise<Identity> => {
    const answer = await api().call({ method: "GET", path: "client/v3/account/whoami" }, signal);
    const userId = wordOf(answer["user_id"]);
    if (userId === undefined) {
      throw new SvcError("REMOTE_UNREACHABLE", "The homeserver's answer can't be read.", {
        hint: "Check the channel's homeserver.",
      });
    }
    const deviceId = wordOf(answer["device_id"]);
    demandSame("user_id", config.user_id, userId);
    if (isGiven(config.access_token)) demandSame("device_id", config.device_id, deviceId);
    return { userId, deviceId };
  };
  const identity = async (signal: AbortSignal): Promise<Identity> => (asked ??= await ask(signal));
  const line = ({ userId, deviceId }: Identity): string =>
    deviceId === undefined
      ? `${userId}; the token belongs to no device: no encrypted rooms`
      : `${userId}, device ${deviceId}`;

  const logIn = async (signal: AbortSignal): Promise<string> => {
    const { user_id: user = "", password = "", device_id: wanted } = config;
    const previous = await storedLogin();
    const deviceId = previous?.isAbandoned === true ? undefined : (previous?.deviceId ?? wanted);
    const answer = await api()
      .call(
        {
          method: "POST",
          path: "client/v3/login",
          anonymous: true,
          json: {
            type: "m.login.password",
            identifier: { type: "m.id.user", user },
            password,
            initial_device_display_name: "svc",
            ...(deviceId !== undefined && { device_id: deviceId }),
          },
        },
        signal,
      )
      .catch(asLoginFailure);
    const login = loginIn(answer, user);
    await secrets.set(LOGIN, JSON.stringify(login));
    asked = undefined;
    return login.deviceId;
  };

  return {
    async token() {
      if (isGiven(config.access_token)) return config.access_token.trim();
      const login = await storedLogin();
      if (login !== undefined && login.isAbandoned !== true) return login.token;
      throw new SvcError("CHANNEL_DOWN", "The account is not logged in yet.", { hint: "svc channels setup federated" });
    },
    identity,
    async check(signal) {
      signal.throwIfAborted();
      try {
        return line(await ask(signal));
      } catch (error) {
        signal.throwIfAborted();
        return asCheckFailure(error);
      }
    },
    async setup(_options, signal) {
      signal.throwIfAborted();
      try {
        const login = isGiven(config.access_token) ? undefined : await storedLogin();
        const isOpen = login !== undefined && login.isAbandoned !== true && (await isValid(() => ask(signal)));
        const made =
          isGiven(config.access_token) || isOpen ? "" : ` Logged in as the new device ${await logIn(signal)}.`;
        const joined = await joinRoom(api(), config.room_id, signal);
        return `${line(await ask(signal))}.${made}${joined}`;
      } catch (error) {
        signal.throwIfAborted();
        return asCheckFailure(error);
      }
    },
    async abandonDevice() {
      const login = await storedLogin();
      if (login) await secrets.set(LOGIN, JSON.stringify({ ...login, isAbandoned: true }));
    },
  };
}

function demandSame(key: string, configured: string | undefined, actual: string | undefined): void {
  if (!isGiven(configured) || configured === actual) return;
  throw new SvcError(
    "CHANNEL_UNAUTHORIZED",
    `The access token belongs to another account or device than \`${key}\` says.`,
    {
      hint: `Correct channels_config.federated.${key}, or leave it out.`,
    },
  );
}

async function isValid(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (error instanceof SvcError && error.code === "CHANNEL_UNAUTHORIZED") return false;
    throw error;
  }
}

function loginIn(answer: Fields, user: string): Login {
  const [token, deviceId, userId] = [answer["access_token"], wordOf(answer["device_id"]), wordOf(answer["user_id"])];
  if (typeof token !== "string" || !/^[\x21-\x7e]{1,2000}$/.test(token) || deviceId === undefined || userId !== user) {
    throw new SvcError("REMOTE_UNREACHABLE", "The homeserver's answer can't be read.", {
      hint: "Check the channel's homeserver and user_id.",
    });
  }
  return { userId, deviceId, token };
}

function asLoginFailure(error: unknown): never {
  if (!isRefusal(error, "M_FORBIDDEN")) throw error;
  throw new SvcError("CHANNEL_UNAUTHORIZED", "The homeserver refuses the user id or the password.", {
    hint: "svc secrets set channels_config.federated.password",
  });
}

/** A sentence about it; blank without a room. Joining a room again does nothing. */
export async function joinRoom(api: MatrixApi, room: string | undefined, signal: AbortSignal): Promise<string> {
  if (room === undefined) return "";
  const answer = await api.call({ method: "POST", path: `client/v3/join/${pathPart(room)}`, json: {} }, signal);
  const roomId = wordOf(answer["room_id"]);
  return roomId !== undefined && ROOM_ID.test(roomId) ? ` Joined ${roomId}.` : "";
}
