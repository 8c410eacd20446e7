/** The action of a button: its progress and its error. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../client/api.ts";

export interface Action<Args extends readonly unknown[]> {
  readonly run: (...args: Args) => Promise<boolean>;
  readonly isRunning: boolean;
  readonly error: ApiError | undefined;
  readonly clear: () => void;
}

export function useAction<Args extends readonly unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isRunning: boolean; error: ApiError | undefined }>(IDLE);
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const show = (next: typeof state): void => {
    if (isMounted.current) setState(next);
  };
  return {
    ...state,
    clear: () => show(IDLE),
    /** Resolves with true on success; never rejects. */
    async run(...args) {
      show({ isRunning: true, error: undefined });
      try {
        await act(...args);
        show(IDLE);
        return true;
      } catch (error) {
        show({ isRunning: false, error: asApiError(error) });
        return false;
      }
    },
  };
}

const IDLE = { isRunning: false, error: undefined };
