// The overview: tables and designs of the server, current activity, health.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { session } from '../lib/session';
import { HISTORY, processorsOf, useStats, type Live, type Rates } from '../lib/stats';
import type { SessionDesign, Stats, TableStats } from '../lib/types';
import { href, type Route } from '../router';
import { isBookkeeping } from '../shell/places';
import { Badge, CopyButton, Empty, ErrorBox, format, Spinner, Sparkline } from '../ui';
import { ConnectButton, ConnectPanel, useConnectPanel } from './overview-connect';

const DURABILITY: Record<string, string> = {
  synced: 'synced: a write is on disk before it is answered',
  relaxed: 'relaxed: the last moments may be lost with the machine',
  memory: 'in memory: gone when the server stops',
};

function Fact({ label, value, title }: { label: string; value: ComponentChildren; title?: string }) {
  return (
    <div class="fact" title={title}>
      <dt>{label}</dt>
      <dd class="number">{value}</dd>
    </div>
  );
}

function Facts({ stats }: { stats: Stats }) {
  const { version, durability, region } = session();
  const well = stats.health === 'ok';
  return (
    <dl class="facts panel">
      <Fact
        label="Health"
        value={
          <span class="row">
            <span class={`dot ${well ? 'dot-ok' : 'dot-danger'}`} />
            {well ? 'ok' : 'refusing writes'}
          </span>
        }
        title={stats.health}
      />
      <Fact label="Version" value={version} />
      <Fact label="Up for" value={format.duration(stats.uptime_ms)} />
      <Fact label="Durability" value={durability} title={DURABILITY[durability]} />
      <Fact label="Memory" value={format.bytes(stats.memory_bytes)} />
      <Fact label="Disk" value={durability === 'memory' ? '–' : format.bytes(stats.disk_bytes)} />
      <Fact label="Connections" value={format.count(stats.connections)} />
      <Fact label="Write queue" value={format.count(stats.write_queue)} title="writes waiting for their turn" />
      <Fact label="Region" value={region} />
    </dl>
  );
}

const NONE: Rates = { reads: [], writes: [] };
const last = (values: number[]) => values[values.length - 1] ?? 0;

/** Reads or writes a second with the last minute. */
function Rate({ name, values, tone }: { name: string; values: number[]; tone: 'accent' | 'second' }) {
  const now = format.rate(last(values));
  return (
    <div class="rate">
      <div>
        <span class="rate-number number">{now}</span>
        <span class="muted"> {name}/s</span>
      </div>
      <Sparkline
        values={values}
        length={HISTORY}
        tone={tone}
        label={`${name} a second over the last minute, now ${now}`}
      />
    </div>
  );
}

/** Stream and processors in a few words: problems first. */
function StreamState({ table, design, stats }: { table: TableStats; design: string | null; stats: Stats }) {
  if (!table.stream) return <Badge>no stream</Badge>;
  const processors = design ? processorsOf(stats, design) : [];
  const parked = processors.reduce((sum, p) => sum + p.parked, 0);
  const paused = processors.filter((p) => p.paused).length;
  const lag = Math.max(0, ...processors.filter((p) => !p.paused).map((p) => p.lag_ms));
  const running = processors.length - paused;
  return (
    <>
      {parked > 0 && <Badge kind="warn">{parked} parked</Badge>}
      {paused > 0 && <Badge kind="warn">{paused} paused</Badge>}
      {running > 0 && <Badge kind="ok">{format.plural(running, 'processor')} running</Badge>}
      <Badge kind={lag > 10_000 ? 'danger' : lag > 1_000 ? 'warn' : 'plain'} title="lag of the slowest processor">
        {processors.length ? `stream lag ${format.duration(lag)}` : 'stream on'}
      </Badge>
    </>
  );
}

function DesignCard({ design, live }: { design: SessionDesign; live: Live }) {
  const stats = live.stats!;
  const table = stats.tables.find(({ name }) => name === design.table);
  const rates = live.rates.get(design.table) ?? NONE;
  return (
    <article class="panel card" aria-labelledby={`card-${design.name}`}>
      <header class="card-head">
        <h3 id={`card-${design.name}`}>
          <a class="card-link" href={href(['table', design.table])}>
            {design.title}
          </a>
        </h3>
        <span class="mono muted card-table">{design.table}</span>
      </header>
      {table ? (
        <>
          <div class="card-numbers">
            <div>
              <span class="big number">{format.compact(table.items)}</span>
              <span class="muted"> items</span>
            </div>
            <div>
              <span class="big number">{format.bytes(table.bytes)}</span>
            </div>
            <div>
              <span class="big number">{table.indexes}</span>
              <span class="muted"> {table.indexes === 1 ? 'index' : 'indexes'}</span>
            </div>
          </div>
          <div class="card-rates">
            <Rate name="reads" values={rates.reads} tone="accent" />
            <Rate name="writes" values={rates.writes} tone="second" />
          </div>
          <div class="card-state">
            <a href={href(['processors', design.name])} title="To the processors">
              <StreamState table={table} design={design.name} stats={stats} />
            </a>
          </div>
        </>
      ) : (
        <p class="muted card-state">The table is not there.</p>
      )}
      <nav class="card-links" aria-label={design.title}>
        <a href={href(['table', design.table])}>Table</a>
        <a href={href(['design', design.name, 'patterns'])}>Patterns</a>
        <a href={href(['design', design.name])}>Design</a>
        <a href={href(['streams', design.table])}>Stream</a>
      </nav>
    </article>
  );
}

function TableRow({ table, live }: { table: TableStats; live: Live }) {
  const rates = live.rates.get(table.name) ?? NONE;
  return (
    <tr>
      <th scope="row">
        <a class="mono" href={href(['table', table.name])}>
          {table.name}
        </a>
      </th>
      <td class="number" data-label="items">
        {format.compact(table.items)}
      </td>
      <td class="number" data-label="size">
        {format.bytes(table.bytes)}
      </td>
      <td data-label="reads/s">
        <span class="rate-cell">
          <span class="number">{format.rate(last(rates.reads))}</span>
          <Sparkline
            values={rates.reads}
            length={HISTORY}
            label={`reads a second over the last minute, ${table.name}`}
          />
        </span>
      </td>
      <td data-label="writes/s">
        <span class="rate-cell">
          <span class="number">{format.rate(last(rates.writes))}</span>
          <Sparkline
            values={rates.writes}
            length={HISTORY}
            tone="second"
            label={`writes a second over the last minute, ${table.name}`}
          />
        </span>
      </td>
      <td data-label="stream">
        {table.stream ? <a href={href(['streams', table.name])}>on</a> : <span class="muted">off</span>}
      </td>
    </tr>
  );
}

function TableList({ title, tables, live }: { title?: string; tables: TableStats[]; live: Live }) {
  if (tables.length === 0) return null;
  return (
    <section class="stack">
      {title && <h2>{title}</h2>}
      <div class="panel">
        <table class="list responsive">
          <thead>
            <tr>
              <th>Table</th>
              <th>Items</th>
              <th>Size</th>
              <th>Reads/s</th>
              <th>Writes/s</th>
              <th>Stream</th>
            </tr>
          </thead>
          <tbody>
            {tables.map((table) => (
              <TableRow key={table.name} table={table} live={live} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function OverviewPage(_: { route: Route }) {
  const live = useStats();
  const [connect, setConnect] = useConnectPanel();
  const { designs } = session();
  if (!live.stats) return live.error ? <ErrorBox error={live.error} /> : <Spinner />;
  const plain = live.stats.tables.filter((table) => !table.design);
  return (
    <div class="stack overview">
      <div class="page-head">
        <h1>Overview</h1>
        <span class="endpoint mono">
          {session().endpoint}
          <CopyButton text={session().endpoint} />
        </span>
        <span class="spread" />
        {!connect && <ConnectButton onClick={() => setConnect(true)} />}
      </div>
      <Facts stats={live.stats} />
      {connect && <ConnectPanel onClose={() => setConnect(false)} />}
      {designs.length > 0 && (
        <section class="stack">
          <h2>Designs</h2>
          <div class="cards">
            {designs.map((design) => (
              <DesignCard key={design.name} design={design} live={live} />
            ))}
          </div>
        </section>
      )}
      <TableList
        title={designs.length ? 'Other tables' : 'Tables'}
        tables={plain.filter((table) => !isBookkeeping(table.name))}
        live={live}
      />
      {plain.some((table) => isBookkeeping(table.name)) && (
        <details class="own">
          <summary>The server’s own tables: positions and parked changes of processors</summary>
          <TableList tables={plain.filter((table) => isBookkeeping(table.name))} live={live} />
        </details>
      )}
      {live.stats.tables.length === 0 && (
        <div class="panel">
          <Empty title="There is no table yet" icon="table">
            Create one with any SDK, or start the server with <code>--design FILE</code>.
          </Empty>
        </div>
      )}
    </div>
  );
}
