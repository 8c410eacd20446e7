import { useEffect } from "preact/hooks";
import { useServices } from "../services.ts";
import { useList } from "../state/use-reader.ts";
import { t } from "../texts/texts.ts";

const MOST = 99;

/** How many approvals wait. Nothing when none does. */
export function WaitingCount() {
  const query = { status: "waiting", limit: MOST + 1 };
  const { data } = useList<{ readonly approvals: readonly unknown[] }>("/api/approvals", ["approvals"], query);
  const { pageTitle } = useServices();
  const waiting = data?.approvals.length ?? 0;
  useEffect(() => {
    pageTitle.waiting.set(waiting);
    return () => pageTitle.waiting.set(0);
  }, [waiting]);
  if (waiting === 0) return null;
  return (
    <span class="count">
      {waiting > MOST ? `${MOST}+` : waiting}
      <span class="unseen"> {t("shell.waiting")}</span>
    </span>
  );
}
