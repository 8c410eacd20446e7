import { useReader } from "../state/use-reader.ts";
import { PASSKEYS } from "./passkeys.ts";

interface Ways {
  readonly features: readonly string[];
}

/** Whether a passkey can sign in; undefined: not known yet. */
export function usePasskeySignIn(): boolean | undefined {
  const { data } = useReader("ways", [], (api, signal) => api.get<Ways>("/api/session/ways", {}, signal));
  return data?.features.includes(PASSKEYS);
}
