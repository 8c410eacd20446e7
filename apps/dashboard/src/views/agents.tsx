/** The tree of child agents: state, heartbeat, cost, and a button that stops one. */
import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError, path } from "../client/api.ts";
import { Button } from "../components/button.tsx";
import { Confirmed } from "../components/dialog.tsx";
import { Empty, Heading, Section } from "../components/layout.tsx";
import { Problem, Shown } from "../components/shown.tsx";
import { type Column, Table } from "../components/table.tsx";
import { ServiceText } from "../components/text.tsx";
import { Ago, Badge } from "../components/values.tsx";
import { useServices } from "../services.ts";
import { useList } from "../state/use-reader.ts";
import { useTick } from "../state/use-window.ts";
import { number, t } from "../texts/texts.ts";

interface ChildAgent {
  readonly id: string;
  readonly title: string;
  readonly program: string;
  readonly parent: string | null;
  readonly status: "initializing" | "running" | "idle" | "error" | "closed";
  readonly reason: string | null;
  readonly code: string | null;
  readonly lastEventAt: string;
  readonly usage: { readonly cost_usd: number | null };
  readonly spent: Amounts;
  readonly budget: Amounts;
}

interface Amounts {
  readonly cost_usd: number | null;
  readonly tokens: number | null;
  readonly actions: number | null;
}

interface Row extends ChildAgent {
  readonly depth: number;
}

/** Events report states but not heartbeats. */
const REFRESH_MS = 5000;

export function ChildAgents() {
  const list = useList<{ readonly agents: readonly ChildAgent[] }>("/api/agents", ["agents"]);
  useTick(REFRESH_MS, () => void list.refresh());
  const { api } = useServices();
  const [watched, watch] = useState<ChildAgent>();
  const end = ({ id }: ChildAgent): Promise<unknown> =>
    api.call(`/api/agents/${encodeURIComponent(id)}`, { method: "DELETE" }).finally(() => void list.refresh());
  const columns: readonly Column<Row>[] = [
    {
      label: "agents.agent",
      cell: ({ title, id, program, depth }) => (
        <span style={{ paddingInlineStart: `${depth * 1.5}rem` }}>
          <ServiceText>{title}</ServiceText> <code>{id}</code> {program}
        </span>
      ),
    },
    {
      label: "common.state",
      cell: ({ status, reason, code }) => (
        <>
          <Badge state={status} busy={isWorking(status)} /> {code !== null && <code>{code}</code>}{" "}
          {reason !== null && <ServiceText>{reason}</ServiceText>}
        </>
      ),
    },
    { label: "agents.last-event", cell: ({ lastEventAt }) => <Ago at={lastEventAt} />, narrow: true },
    {
      label: "agents.cost",
      cell: costOf,
      narrow: true,
    },
    {
      label: "agents.events",
      cell: (agent) => (
        <Button onPress={() => watch(agent)} label={t("agents.events-of", { title: agent.title })}>
          {t("agents.events")}
        </Button>
      ),
      narrow: true,
    },
    {
      label: "agents.end",
      cell: (agent) =>
        isWorking(agent.status) || agent.status === "idle" ? (
          <Confirmed
            text={t("common.stop")}
            label={t("agents.stop-one", { title: agent.title })}
            question={t("agents.stop-question")}
            act={() => end(agent)}
          >
            <p>{t("agents.stop-effect")}</p>
          </Confirmed>
        ) : (
          ""
        ),
      narrow: true,
    },
  ];
  return (
    <>
      <Heading title={t("shell.child-agents")} />
      <Shown read={list}>
        {({ agents }) =>
          agents.length === 0 ? (
            <Empty title={t("agents.none")}>{t("agents.none-hint")}</Empty>
          ) : (
            <Table label={t("shell.child-agents")} columns={columns} rows={treeOf(agents)} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      {watched && <AgentEvents id={watched.id} title={watched.title} onClose={() => watch(undefined)} />}
    </>
  );
}

/** Its cost, and its use of each budget limit. */
function costOf({ usage, spent, budget }: ChildAgent): string {
  const dollars = (usd: number): string =>
    number(usd, { style: "currency", currency: "USD", maximumFractionDigits: 4 });
  const amount = (used: number | null, most: number | null, shown: (amount: number) => string): string => {
    const now = used === null ? "?" : shown(used);
    return most === null ? now : t("agents.of", { used: now, most: shown(most) });
  };
  const count = (value: number): string => number(value);
  return [
    ...(usage.cost_usd === null && budget.cost_usd === null ? [] : [amount(spent.cost_usd, budget.cost_usd, dollars)]),
    ...(budget.tokens === null ? [] : [t("agents.tokens", { n: amount(spent.tokens, budget.tokens, count) })]),
    ...(budget.actions === null ? [] : [t("agents.calls", { n: amount(spent.actions, budget.actions, count) })]),
  ].join(", ");
}

const isWorking = (status: ChildAgent["status"]): boolean => status === "initializing" || status === "running";

/** Newest first; each is followed by its children. */
function treeOf(agents: readonly ChildAgent[], parent: string | null = null, depth = 0): Row[] {
  const known = new Set(agents.map(({ id }) => id));
  const isBelow = (agent: ChildAgent): boolean =>
    parent === null ? agent.parent === null || !known.has(agent.parent) : agent.parent === parent;
  return agents
    .filter(isBelow)
    .toReversed()
    .flatMap((agent) => [{ ...agent, depth }, ...treeOf(agents, agent.id, depth + 1)]);
}

/** The live events of one child agent, newest first. */
interface AgentEvent {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly text: string;
}

const MOST_SHOWN = 200;
const RECONNECT_MS = 2000;

const COLUMNS: readonly Column<AgentEvent>[] = [
  { label: "agents.when", cell: ({ at }) => <Ago at={at} />, narrow: true },
  { label: "agents.kind", cell: ({ kind }) => <code>{kind}</code>, narrow: true },
  { label: "agents.text", cell: ({ text }) => <ServiceText>{text}</ServiceText> },
];

function AgentEvents({
  id,
  title,
  onClose,
}: {
  readonly id: string;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const { events, error } = useAgentEvents(id);
  const label = t("agents.events-of", { title });
  return (
    <Section title={label} aside={<Button onPress={onClose}>{t("common.close")}</Button>}>
      <Problem error={error} />
      <Table label={label} columns={COLUMNS} rows={events} keyOf={({ seq }) => seq} />
    </Section>
  );
}

function useAgentEvents(id: string): { readonly events: readonly AgentEvent[]; readonly error: ApiError | undefined } {
  const { api } = useServices();
  const [events, setEvents] = useState<readonly AgentEvent[]>([]);
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = "0";
    const follow = async (): Promise<void> => {
      try {
        for await (const event of api.stream(path`/api/agents/${id}/events`, last, gone.signal)) {
          setError(undefined);
          if (event.id !== "") last = event.id;
          if (event.type === "over") return;
          const data = event.data as Partial<AgentEvent>;
          if (data.seq !== undefined) setEvents((all) => [data as AgentEvent, ...all].slice(0, MOST_SHOWN));
        }
      } catch (cause) {
        if (gone.signal.aborted) return;
        const failure = asApiError(cause);
        setError(failure);
        if (failure.status === 404) return;
      }
      if (!gone.signal.aborted) timer = setTimeout(() => void follow(), RECONNECT_MS);
    };
    setEvents([]);
    void follow();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [api, id]);
  return { events, error };
}
