// A study as it runs: its state and what may be done with it, its charts behind one filter, and the trial that is shown.

import { unified } from '../code/changes';
import { button, h } from '../tools/dom';
import { bodyOf } from '../state/comparing';
import type { State } from '../state/state';
import { Filter, fastest, named, twinSaid } from './trial';
import { duration } from '../tools/quantities';
import type { Trial } from './trial';
import { parallel } from './decision_chart';
import { importances, overTime, predictions, ranking, roofline } from './trial_charts';
import type { Chart } from './trial_charts';
import type { Action, StudyData, TrialTold } from '../state/messages';

const FACTORS = [1.05, 1.2, 1.5, 2, 5];

const ACTIONS: Record<StudyData['state'], Action[]> = {
  running: ['pause', 'stop'],
  paused: ['resume', 'stop'],
  stopped: ['resume'],
  finished: [],
  failed: [],
};
const SAID: Record<Action, string> = {
  pause: 'the study pauses: what is being measured is kept',
  resume: 'the study goes on',
  stop: 'the study stops: what was measured is kept',
};

export class TrialsPane {
  readonly element = h('section', { class: 'pane trials', 'aria-label': 'Trials' });
  private readonly filter = new Filter();
  private readonly about = h('div', { class: 'about' });
  private readonly bar = h('i', { class: 'done' });
  private readonly doing = h('span', { class: 'pair' });
  private readonly sieve = h('div', { class: 'sieve' });
  private readonly charts = h('div', { class: 'charts' });
  private readonly told = h('div', { class: 'told' });
  private changes = false; // the code against the best one's is shown
  private closeChanges: () => void = () => undefined;
  private stands = ''; // what the detail says now

  constructor(private readonly state: State) {
    const head = h(
      'div',
      { class: 'study-head' },
      this.about,
      h('span', { class: 'bar', role: 'progressbar', 'aria-label': 'trials made' }, this.bar),
      this.doing,
    );
    this.element.append(head, this.sieve, this.charts, this.told);
  }

  private get study(): StudyData | null {
    const found = this.state.model.get('study');
    return found.state ? (found as StudyData) : null;
  }

  private get shown(): TrialTold | null {
    return this.state.model.get('views').trial ?? null;
  }

  draw(): void {
    const { study } = this;
    if (!study) {
      this.charts.replaceChildren(
        h('p', { class: 'note' }, 'No study is shown here: wb.panel(study), or a study as the last value of a cell.'),
      );
      return;
    }
    const trials = named(study, this.filter);
    this.drawHead(study);
    this.drawSieve(study, trials);
    this.drawCharts(study, trials);
    this.drawTold(study, trials);
  }

  private drawHead(study: StudyData): void {
    const best =
      study.best === null
        ? study.ranked
          ? 'ranked without a GPU'
          : 'nothing measured yet'
        : study.ranked
          ? `ranked without a GPU: best estimate ${duration(fastest(study))}, trial ${study.best}; nothing was measured`
          : `best: trial ${study.best}, ${duration(fastest(study))}${study.speedup ? `, ${study.speedup.toFixed(2)} × the default recipe` : ''}`;
    this.about.replaceChildren(
      h('b', { class: `state ${study.state}` }, study.state),
      ` ${study.done}${study.budget > study.done ? ` of ${study.budget}` : ''} trials · ${best}`,
      study.why
        ? h('span', { class: study.state === 'failed' ? 'bad' : 'soft' }, ` ${study.state === 'failed' ? '' : 'ended early: '}${study.why}`)
        : '',
    );
    this.bar.style.width = `${Math.min(100, (100 * study.done) / Math.max(1, study.budget))}%`;
    this.element.dataset.state = study.state;
    this.element.dataset.trials = String(study.trials.length);
    const wanted = ACTIONS[study.state];
    if ([...this.doing.children].map((c) => c.textContent).join() === wanted.join()) return;
    const held = this.doing.contains(document.activeElement);
    this.doing.replaceChildren(...wanted.map((name) => button(name, () => void this.act(name), { class: name })));
    if (held) this.doing.querySelector('button')?.focus();
  }

  private async act(name: Action): Promise<void> {
    if (await this.state.ask('study', { do: name })) this.state.say(SAID[name]);
  }

  /** What is filtered by: outcomes, times the best, options. */
  private drawSieve(study: StudyData, trials: Trial[]): void {
    const counts = study.outcomes.map((_, i) => trials.filter((t) => t.outcome === i && t.twinOf === null).length);
    const outcomes = study.outcomes.map((name, i) =>
      counts[i] || (!i && !study.ranked)
        ? button(`${name} ${counts[i]}`, () => this.change(() => this.filter.toggleOutcome(i)), {
            class: `outcome o${i}`,
            'aria-pressed': String(this.filter.outcomes.has(i)),
            title: `only trials that came to this: ${name}`,
          })
        : null,
    );
    const choice = h(
      'select',
      {
        'aria-label': 'at most so many times the best',
        change: (event: Event) =>
          this.change(() => {
            this.filter.factor = Number((event.target as HTMLSelectElement).value);
          }),
      },
      ...[Infinity, ...FACTORS].map((f) =>
        h('option', { value: String(f), selected: f === this.filter.factor }, f === Infinity ? 'any time' : `≤ ${f} × best`),
      ),
    );
    const options = [...this.filter.options].flatMap(([decision, places]) =>
      [...places].map((place) => {
        const { name, options: all } = study.decisions[decision];
        return button(`${name} = ${all[place]} ✕`, () => this.change(() => this.filter.toggleOption(decision, place)), { class: 'kept' });
      }),
    );
    const kept = trials.filter((t) => t.kept).length;
    const clear = this.filter.any
      ? [
          h('span', { class: 'soft' }, `${kept} of ${trials.length}`),
          button('all', () => this.change(() => this.filter.clear()), { class: 'clear', title: 'show all trials again' }),
        ]
      : [];
    const place = [...this.sieve.querySelectorAll('button, select')].indexOf(document.activeElement!);
    this.sieve.replaceChildren(...outcomes.filter((o) => o !== null), choice, ...options, ...clear);
    if (place >= 0) ([...this.sieve.querySelectorAll<HTMLElement>('button, select')][place] ?? this.sieve.querySelector('button'))?.focus();
  }

  private change(action: () => void): void {
    action();
    this.draw();
  }

  private drawCharts(study: StudyData, trials: Trial[]): void {
    const wide = Math.max(320, (this.element.clientWidth || 900) - 24);
    const narrow = wide < 720;
    const [first, second] = narrow ? [wide, wide] : [Math.floor(wide * 0.64), Math.floor(wide * 0.34)];
    const third = narrow ? wide : Math.floor(wide / 3 - 12);
    const shown = this.shown?.number ?? null;
    const pick = (trial: Trial) => void this.pick(trial.number);
    if (!trials.length)
      return this.charts.replaceChildren(
        h('p', { class: 'note' }, study.state === 'running' ? 'The first trials are being built …' : 'No trials yet.'),
      );
    const found: [string, Chart | null][] = [
      [
        study.ranked ? 'estimates, and the best so far (not measured)' : 'trials, and the best so far',
        overTime(study, trials, shown, first, pick),
      ],
      ['which decisions matter', importances(study, second)],
      ['predicted beside measured', predictions(study, trials, shown, third, pick)],
      ['how well the model ranks', ranking(study, third)],
      ['below the ceilings', roofline(study, trials, shown, third, pick)],
      [
        'decision by decision',
        parallel(
          study,
          trials,
          shown,
          wide,
          (d, p) => this.change(() => this.filter.toggleOption(d, p)),
          (d, p) => this.filter.options.get(d)?.has(p) ?? false,
        ),
      ],
    ];
    this.charts.replaceChildren(
      ...found.filter(([, chart]) => chart).map(([title, chart]) => h('figure', {}, h('figcaption', {}, title), chart)),
    );
  }

  private async pick(number: number): Promise<void> {
    if (await this.state.ask('trial', { number })) this.state.say(`trial ${number} is shown in every pane`);
  }

  /** The trial that is shown: what it decided otherwise than the best, and its code beside the best one's. */
  private drawTold(study: StudyData, trials: Trial[]): void {
    const { shown } = this;
    const best = trials.find((t) => t.number === study.best);
    const own = shown && trials.find((t) => t.number === shown.number);
    const code = this.changes && shown ? this.state.lazy.written({ language: study.language }) : undefined;
    const written = code ? bodyOf(code) : '';
    const now = JSON.stringify([shown?.number, own?.seconds, study.best, this.changes, trials.length > 0, written]);
    if (now === this.stands) return;
    this.stands = now;
    const place = [...this.told.querySelectorAll('button')].indexOf(document.activeElement as HTMLButtonElement);
    this.closeChanges();
    this.closeChanges = () => undefined;
    if (!trials.length) return this.told.replaceChildren();
    const numbers = trials.map((t) => t.number);
    const at = own ? numbers.indexOf(own.number) : -1;
    const go = (to: number | undefined, text: string, title: string) =>
      button(
        text,
        () => {
          if (to !== undefined) void this.pick(to);
        },
        { title, disabled: to === undefined },
      );
    const ways = h(
      'span',
      { class: 'pair' },
      go(at > 0 ? numbers[at - 1] : undefined, '◂', 'the trial before'),
      go(numbers[at + 1], '▸', 'the next trial'),
      go(study.best ?? undefined, 'best', 'the best trial'),
    );
    if (!shown || !own) {
      this.told.replaceChildren(
        h('div', { class: 'told-head' }, ways, h('span', { class: 'soft' }, 'click a trial: its schedule is shown in every pane')),
      );
    } else {
      const what =
        own.seconds !== null
          ? `${study.ranked ? 'estimated ' : ''}${duration(own.seconds)}${best?.seconds && own !== best ? `, ${(own.seconds / best.seconds).toPrecision(3)} × the best` : ', the best'}${twinSaid(own)}`
          : study.outcomes[own.outcome];
      const more = [
        own.predicted !== null ? `predicted ${duration(own.predicted)}` : '',
        `round ${own.round}`,
        own.confirmed ? (study.ranked ? 'executed by the processor: right' : 'timed again, longer') : '',
      ]
        .filter(Boolean)
        .join(' · ');
      const decided = study.decisions.map((d, i) => {
        const [mine, theirs] = [d.options[own.places[i]] ?? '?', best && d.options[best.places[i]]];
        const other = own !== best && theirs !== undefined && mine !== theirs;
        return h(
          'span',
          { class: `decided${other ? ' other' : ''}`, title: other ? `the best has ${theirs}` : '' },
          `${d.name} = ${mine}`,
          other ? h('small', {}, ` (best: ${theirs})`) : '',
        );
      });
      const compare =
        shown.shown && own !== best
          ? button(
              this.changes ? 'hide the difference' : 'code against the best',
              () =>
                this.change(() => {
                  this.changes = !this.changes;
                }),
              { class: 'compare', 'aria-pressed': String(this.changes) },
            )
          : null;
      const host = h('div', { class: 'changes' });
      if (compare && code) this.closeChanges = unified(host, shown.best_code.join('\n'), written);
      this.told.replaceChildren(
        h('div', { class: 'told-head' }, ways, h('b', {}, `trial ${own.number}`), what, h('span', { class: 'soft' }, more), compare),
        h('div', { class: 'decisions' }, ...decided),
        shown.message ? h('pre', { class: 'script' }, shown.message) : '',
        host,
      );
    }
    if (place >= 0) [...this.told.querySelectorAll('button')][place]?.focus();
  }

  close(): void {
    this.closeChanges();
  }
}
