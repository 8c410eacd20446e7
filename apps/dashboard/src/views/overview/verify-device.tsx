/** Verifies the Matrix device of the service: another device scans a code, or both show the same symbols. */
import { useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { QrCode } from "../../components/qr-code.tsx";
import { Name } from "../../components/text.tsx";
import { useMayOperate, useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { useList, useRunningFeatures } from "../../state/use-reader.ts";
import { useTick } from "../../state/use-window.ts";
import { rich, t } from "../../texts/texts.ts";

/** Feature and channel with such a device. */
const FEATURE = "channel-federated";
const CHANNEL = "federated";
const PATH = "/api/federated/verification";

/** A request of another device emits no event, so poll. */
const REQUESTS_POLL_MS = 5_000;
const STATE_POLL_MS = 1_000;

type State = { readonly peer: string } & (
  | { readonly stage: "waiting" | "scanned" | "confirmed" | "done" }
  | { readonly stage: "scan"; readonly qr: readonly string[] }
  | { readonly stage: "compare"; readonly symbols: readonly { readonly symbol: string; readonly name: string }[] }
  | { readonly stage: "cancelled"; readonly reason: string }
);

/** A button for this channel, for operators. */
export function VerifyDevice({ channel }: { readonly channel: string }) {
  const running = useRunningFeatures();
  const mayOperate = useMayOperate();
  return channel === CHANNEL && mayOperate && running.has(FEATURE) ? <VerifyButton /> : null;
}

function VerifyButton() {
  const asked = useList<{ readonly requests: readonly string[] }>(PATH, []);
  const [isOpen, setOpen] = useState(false);
  useTick(REQUESTS_POLL_MS, () => void asked.refresh());
  const [first] = asked.data?.requests ?? [];
  return (
    <>
      {first !== undefined && (
        <p role="status">{rich("overview.asks-to-verify-this-device", { peer: <Name>{first}</Name> })}</p>
      )}
      <Button kind={first === undefined ? "plain" : "main"} onPress={() => setOpen(true)}>
        {t("overview.verify-the-device")}
      </Button>
      {isOpen && (
        <VerifyDialog
          peer={first}
          onClose={() => {
            setOpen(false);
            void asked.refresh();
          }}
        />
      )}
    </>
  );
}

function VerifyDialog({ peer, onClose }: { readonly peer: string | undefined; readonly onClose: () => void }) {
  const { api } = useServices();
  const [state, setState] = useState<State>();
  const take = useAction(async (step: string, matches?: boolean) => {
    const body = { step, ...(matches !== undefined && { matches }) };
    setState(await api.call<State>(PATH, { method: "POST", body }));
  });
  const poll = useAction(async () =>
    setState(await api.call<State>(PATH, { method: "POST", body: { step: "state" } })),
  );
  // The timer keeps its first callback, so read the current one through a ref.
  const tick = useRef(() => {});
  tick.current = () => {
    const isWaiting = state !== undefined && ["waiting", "scan", "confirmed"].includes(state.stage);
    if (isWaiting && !take.isRunning && !poll.isRunning) void poll.run();
  };
  useTick(STATE_POLL_MS, () => tick.current());
  const stage = state?.stage;
  const isOver = stage === "done" || stage === "cancelled";
  const actions: Readonly<Record<string, readonly [text: string, act: () => void]>> = {
    begin: [
      peer === undefined ? t("overview.ask-the-other-device") : t("overview.accept"),
      () => void take.run("begin"),
    ],
    scan: [t("overview.compare-symbols-instead"), () => void take.run("compare")],
    scanned: [t("overview.it-says-so"), () => void take.run("answer", true)],
    compare: [t("overview.they-are-the-same"), () => void take.run("answer", true)],
    done: [t("common.done"), onClose],
    cancelled: [t("common.try-again"), () => void take.run("begin")],
  };
  const [action, act] = actions[stage ?? "begin"] ?? [t("overview.waiting"), () => undefined];
  return (
    <Dialog
      title={t("overview.verify-the-matrix-device")}
      action={action}
      kind="main"
      dismiss={isOver ? t("common.close") : t("common.not-now")}
      busy={take.isRunning || stage === "waiting" || stage === "confirmed"}
      error={take.error ?? poll.error}
      onConfirm={act}
      onClose={onClose}
    >
      <div role="status">
        <Step state={state} peer={peer} />
      </div>
      {(stage === "compare" || stage === "scanned") && (
        <Button kind="danger" busy={take.isRunning} onPress={() => void take.run("answer", false)}>
          {stage === "compare" ? t("overview.they-differ") : t("overview.it-does-not")}
        </Button>
      )}
    </Dialog>
  );
}

function Step({ state, peer }: { readonly state: State | undefined; readonly peer: string | undefined }) {
  if (state === undefined) {
    return peer === undefined ? (
      <p>{t("overview.the-accounts-other-devices-such")}</p>
    ) : (
      <p>{rich("overview.asks-to-verify-this-device", { peer: <Name>{peer}</Name> })}</p>
    );
  }
  const other = <Name>{state.peer}</Name>;
  switch (state.stage) {
    case "waiting":
      return <p>{rich("overview.waiting-for-accept-the-verification", { other })}</p>;
    case "confirmed":
      return <p>{rich("overview.waiting-for-to-say-that", { other })}</p>;
    case "scan":
      return (
        <div class="pairing">
          <p>{rich("overview.scan-this-code-with", { other })}</p>
          <QrCode
            modules={state.qr.map((row) => Array.from(row, (module) => module === "1"))}
            label={t("overview.qr-code-of-the-verification")}
          />
        </div>
      );
    case "scanned":
      return <p>{rich("overview.has-scanned-the-code-does", { other })}</p>;
    case "compare":
      return (
        <>
          <p>{rich("overview.does-show-the-same-symbols", { other })}</p>
          <ol class="symbols">
            {state.symbols.map(({ symbol, name }, at) => (
              <li key={at}>
                <span aria-hidden="true">{symbol}</span> <Name>{name}</Name>
              </li>
            ))}
          </ol>
        </>
      );
    case "done":
      return <p>{rich("overview.verified-with", { other })}</p>;
    case "cancelled":
      return <p>{rich("overview.not-verified-ended-it", { other, reason: <Name>{state.reason}</Name> })}</p>;
  }
}
