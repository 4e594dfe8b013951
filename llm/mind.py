"""One masked question → the steps of its answer. Knows nothing of audio, of the line or of the record; stateless between calls.

Reads like the route: emergency, a refusal, a person, repeat, goodbye, dictated data, English, hot pool, stored answer,
follow-up, engine, one clarifying question, a person. What is spoken is reviewed text, or generated text that passed
the checks clause by clause.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from llm import phrases
from llm.amounts import answering_text
from llm.clauses import clauses
from llm.correction import what_counts
from llm.dense import DenseVoice
from llm.dialogue_acts import Act, act_of, is_thanks
from llm.emergency import EmergencyRule
from llm.followup import follow_up, instead, is_bare, is_mere_topic, topic_of
from llm.foreign import english_words, latin_words, wants_english, without_courtesies
from llm.gate import About, doubts
from llm.gate_words import Words
from llm.generate import written_steps
from llm.hotpool import HotPool
from llm.intents import ASK_HUMAN
from llm.joints import Asked, are_apart, asked_in, is_of_a_story, together
from llm.next_steps import can_register, last_route, offered_more, register_steps, settled, whole, with_next_step
from llm.noted import dictated_steps
from llm.policy import barred
from llm.retrieve import Retriever
from llm.safety import SafetyAction, SafetyRule
from llm.spoken import speak, sure, to_person
from llm.types import (
    AnsweringSettings,
    Clause,
    Close,
    Dialogue,
    Engine,
    Entry,
    HandOver,
    Intent,
    IntentClassifier,
    MaskedText,
    Passage,
    Route,
    Routed,
    Step,
)
from llm.wording import plain

_SEARCHED = 8
_OFFER_FROM = 0.36  # a candidate below this is not worth a clarifying question
_OFFER_MEANT_FROM = 0.52  # the same where both voices were heard
_GREY_FROM = 0.15  # below this the first voice is silent, and the second is not asked
_FITS_FROM = 0.25  # among two candidates only

_REPLIES = {
    Act.THERE: (Route.REPEAT, phrases.I_HEAR_YOU, "asks whether we listen"),
    Act.ROBOT: (Route.NOTED, phrases.NOT_HUMAN, "asks whether a machine speaks"),
    Act.VERDICT: (Route.CLARIFY, phrases.NO_VERDICT, "asks who would win"),
    Act.NO_PERSON: (Route.NOTED, phrases.GO_ON, "wants no person"),
    Act.WRONG: (Route.CLARIFY, phrases.ASK_AGAIN, "says that the answer was wrong"),
    Act.MORE: (Route.NOTED, phrases.GO_AHEAD, "a question comes next"),
}
_CHOICES = {Act.YES, Act.NO, Act.WRONG, Act.FIRST, Act.SECOND}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What was found for a question. said: this turn; asked: with the turn before, where that helps.

    open: candidates of our clarifying question, if it is still open. mere: a first turn that names a matter and asks nothing.
    today: when it was asked. meant: the scores are those of both voices.
    """

    said: str
    asked: str
    passages: tuple[Passage, ...]
    topic: Entry | None
    open: tuple[Entry, ...]
    mere: bool
    today: dt.date | None
    meant: bool = False


class AnsweringMind:
    """Finds answers in one knowledge base. engine: where it can be in time; intents: for agents, and in doubt. Both optional.

    words: of the gate, default the shipped. dense: the search's second voice.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        settings: AnsweringSettings,
        engine: Engine | None = None,
        intents: IntentClassifier | None = None,
        *,
        words: Words | None = None,
        dense: DenseVoice | None = None,
    ) -> None:
        """Index the entries (about a millisecond an entry)."""
        self.entries = tuple(entries)
        self._settings = settings
        self._engine = engine
        self._intents = intents
        self._search = Retriever(self.entries)
        self._dense = dense
        self._words = words
        self.doubts_of = partial(doubts, region=settings.region, words=words)
        self._pool = HotPool(settings, words)
        self._emergency = EmergencyRule()
        self._safety = SafetyRule()
        texts = (text for entry in entries for text in (entry.question, *entry.paraphrases, entry.answer, entry.detail))
        self._latin = frozenset().union(*map(latin_words, texts))

    def close(self) -> None:
        """End the second voice's worker."""
        if self._dense:
            self._dense.close()

    async def answer(self, question: MaskedText, dialogue: Dialogue) -> AsyncGenerator[Step, None]:
        """The steps, with what the question is about on the first."""
        intent = self._intents.classify(question) if self._intents else None
        async with aclosing(self._steps(question, dialogue, intent)) as steps:
            async for step in steps:
                yield replace(step, intent=intent) if isinstance(step, Routed) else step  # noqa: ASYNC119  consumer closes us

    async def _steps(self, question: MaskedText, dialogue: Dialogue, intent: Intent | None) -> AsyncGenerator[Step, None]:
        """Danger → refusal → person → repeat → goodbye → dictated → English → hot → stored → follow-up → engine → clarify."""
        steps = (
            self._guarded_steps(question)
            or register_steps(question.text, dialogue)
            or self._act_steps(question, dialogue)
            or dictated_steps(question)
            or self._english_steps(question, dialogue)
        )
        if steps is None:
            said = self.counting(question)
            asked = asked_in(said)
            found = await self._meant(self._find(said, dialogue), dialogue)
            several = await self._several_steps(asked, dialogue, must_be_sure=not asked.is_joined)
            steps = several or self._stored_steps(found)
            if self._engine and not several and (written := self._written(self._engine, question, found, dialogue, steps)):
                async with aclosing(written):
                    async for step in written:
                        steps = ()
                        yield step  # noqa: ASYNC119  consumer closes us
            if steps is None and intent and intent.matter.is_sure and intent.matter.name == ASK_HUMAN:
                steps = to_person(Route.PERSON, phrases.to_person(dialogue), "asked", "sounds like asking for a person")
            if steps is None:
                steps = await self._several_steps(asked, dialogue, must_be_sure=False) or self._unknown_steps(
                    found, dialogue, intent, asked
                )
        for step in steps:
            yield step

    # ------------------------------------------------------------ before any search

    def _guarded_steps(self, question: MaskedText) -> tuple[Step, ...] | None:
        """Danger first; then what the bot doesn't go along with."""
        if emergency := self._emergency.check(question):
            spoken = [Clause(text=text, protected=True) for text in clauses(emergency.instruction)]
            routed = Routed(route=Route.EMERGENCY, confidence=1.0, explain=f"emergency rule: {emergency.kind.value}")
            return (routed, *spoken, HandOver(reason="emergency", skill="emergency", urgent=True))
        unsafe = self._safety.check(question)
        if unsafe is None:
            return None
        steps = speak(Route.REFUSED, unsafe.reply, 1.0, f"safety rule: {unsafe.kind.value}")
        return (*steps, HandOver(reason="asked")) if unsafe.action is SafetyAction.TRANSFER else steps

    def _act_steps(self, question: MaskedText, dialogue: Dialogue) -> tuple[Step, ...] | None:
        """A turn that is no question."""
        offered = self._offered(dialogue)
        act = act_of(question.text, answering=bool(offered))
        if act in _CHOICES and (offered or last_route(dialogue) is Route.CLARIFY):
            return settled(act, offered)
        if act in _REPLIES:
            route, reply, why = _REPLIES[act]
            return speak(route, reply, 1.0, why)
        match act:
            case Act.PERSON:
                return to_person(Route.PERSON, phrases.to_person(dialogue), "asked", "asked for a person")
            case Act.REPEAT:
                return self._again(dialogue)
            case Act.GOODBYE | Act.THANKS | Act.NO | Act.LEAVE if act is Act.GOODBYE or offered_more(dialogue):
                return (*speak(Route.GOODBYE, phrases.GOODBYE, 1.0, "the caller is done"), Close())
        no_question = act is not None or is_thanks(question.text)
        reply = phrases.WELCOME if act is Act.THANKS else phrases.WHAT_ELSE
        return speak(Route.NOTED, reply, 1.0, "no question") if no_question else None

    def _english_steps(self, question: MaskedText, dialogue: Dialogue) -> tuple[Step, ...] | None:
        """Half of the words are none that we compare: passport过期了 would find the identity card's entry."""
        if wants_english(question.text):
            return to_person(Route.PERSON, phrases.to_person(dialogue), "asked", "asked for English")
        if not english_words(question.text, self._latin):
            return None
        if dialogue.clarified >= self._settings.clarifications:
            return to_person(Route.UNKNOWN, phrases.STILL_UNCLEAR, "not_in_kb", "English words, again")
        return speak(Route.CLARIFY, phrases.IN_CHINESE, 0.5, "English words")

    def _again(self, dialogue: Dialogue) -> tuple[Step, ...]:
        """What was said last, from its start."""
        last = next((exchange for exchange in reversed(dialogue.history) if exchange.said), None)
        if last is None:
            return speak(Route.REPEAT, phrases.NOTHING_SAID_YET, 1.0, "nothing to repeat")
        entries = self._spoken(dialogue.today) if last.route in {Route.HOT, Route.STORED} else ()
        entry = topic_of(Dialogue(history=(last,)), entries)
        said = last.said.removeprefix(phrases.AGAIN).removesuffix(phrases.NEEDS_PERSON)
        text = phrases.AGAIN + (whole(entry, said) if entry else said)
        return speak(Route.REPEAT, text, 1.0, "asked to repeat", *((entry,) if entry else ()))

    # ------------------------------------------------------------ stored answers

    def counting(self, question: MaskedText) -> str:
        """What of a turn is searched: neither its courtesies nor what was taken back in it."""
        return what_counts(without_courtesies(question.text), self._words)

    def _spoken(self, today: dt.date | None) -> tuple[Entry, ...]:
        """The entries that may be spoken today, here."""
        return self._search.spoken(today, self._settings.region)

    def _find(self, said: str, dialogue: Dialogue) -> _Found:
        offered, asked = self._offered(dialogue), said
        passages = self.passages(asked, dialogue)
        if dialogue.clarified and dialogue.history and not (passages and passages[0].score >= self._settings.stored_score):
            before = what_counts(dialogue.history[-1].caller.text, self._words)
            both = f"{before}，{asked}"  # the answer to our question may be half a question
            joined = self.passages(both, dialogue)
            if joined and (not passages or joined[0].score > passages[0].score):
                asked, passages = both, joined
        mere = not dialogue.clarified and is_mere_topic(asked)
        topic = topic_of(dialogue, self._spoken(dialogue.today))
        return _Found(said=said, asked=asked, passages=passages, topic=topic, open=offered, mere=mere, today=dialogue.today)

    async def looked_up(self, question: MaskedText, dialogue: Dialogue) -> tuple[Passage, ...]:
        """What the answer to a question is chosen from, best first, by both voices where both are asked."""
        return (await self._meant(self._find(self.counting(question), dialogue), dialogue)).passages

    def passages(self, asked: str, dialogue: Dialogue) -> tuple[Passage, ...]:
        """What an answer is chosen from, best first: only what is valid today, here."""
        return tuple(self._search.search(asked, _SEARCHED, today=dialogue.today, region=self._settings.region))

    async def _meant(self, found: _Found, dialogue: Dialogue) -> _Found:
        """With the second voice, where the first is neither sure nor silent. As it was when that can't be had in time."""
        clear = not found.passages or found.passages[0].score < _GREY_FROM or self._pool.match(found.asked, found.passages).entry
        if self._dense is None or clear or found.mere or is_bare(found.asked):
            return found
        meaning = await self._dense.meaning(plain(found.asked), self._settings.dense_timeout_ms)
        if meaning is None:
            return found
        shares = self._intents.shares(found.asked) if self._intents else None
        passages = self._search.with_meaning(
            found.asked, meaning, shares, at_most=_SEARCHED, today=dialogue.today, region=self._settings.region
        )
        return replace(found, passages=tuple(passages), meant=True)

    def _stored_steps(self, found: _Found) -> tuple[Step, ...] | None:
        if steps := self._topical_steps(found):
            return steps
        if is_bare(found.asked):
            return speak(Route.CLARIFY, phrases.WHICH_MATTER, 0.5, "names no matter") if not found.topic else None
        if found.mere:
            return self._follow_steps(found)
        lexical = ((Route.HOT, self._pool.match), (Route.STORED, self._pool.match_stored))
        for route, match in ((Route.STORED, self._pool.match_meant),) if found.meant else lexical:
            verdict = match(found.asked, found.passages)
            if verdict.entry:
                steps = speak(route, answering_text(found.asked, verdict.entry), verdict.score, verdict.why, verdict.entry)
                return with_next_step(steps, verdict.entry)
        return self._follow_steps(found) or self._open_steps(found)

    def _topical_steps(self, found: _Found) -> tuple[Step, ...] | None:
        """What names no matter of its own belongs to the one spoken of."""
        if found.open and is_bare(found.said):
            return self._agreed_steps(found)
        if found.topic and not found.open and (case := instead(found.said, found.topic, self._words)):
            return speak(Route.STORED, case.text, 0.8, f"another case of {found.topic.id}", case.entry)
        return self._follow_steps(found) if is_bare(found.asked) else None

    def _open_steps(self, found: _Found) -> tuple[Step, ...] | None:
        """Half a question that fits one of the offered candidates and not the other: 丢了 after 身份证丢了, 还是身份证过期了."""
        everything = self._search.search(found.said, len(self.entries), today=found.today, region=self._settings.region)
        scores = {passage.entry.id: passage.score for passage in everything}
        fits = sorted(((scores.get(entry.id, 0.0), entry.id, entry) for entry in found.open), reverse=True)
        if not fits or fits[0][0] < _FITS_FROM or (len(fits) > 1 and fits[0][0] - fits[1][0] < self._settings.stored_margin):
            return None
        score, _, entry = fits[0]
        if any(doubt.hard for doubt in self.doubts_of(found.said, entry)):
            return None
        steps = speak(Route.STORED, answering_text(found.said, entry), score, "fits one of the candidates", entry)
        return with_next_step(steps, entry)

    def _agreed_steps(self, found: _Found) -> tuple[Step, ...]:
        """要钱吗 after 您是想问…吗: yes, and what it costs."""
        if len(found.open) > 1:
            return speak(Route.CLARIFY, phrases.WHICH_OF_TWO, 1.0, "asks about one of two candidates", *found.open)
        entry = found.open[0]
        follow = follow_up(found.said, entry, self._spoken(found.today), region=self._settings.region, words=self._words)
        text, entry = (follow.text, follow.entry) if follow else (entry.answer + phrases.NOT_STATED, entry)
        return with_next_step(speak(Route.STORED, text, 0.8, f"took up the offer of {entry.id}", entry), entry)

    async def _several_steps(self, asked: Asked, dialogue: Dialogue, *, must_be_sure: bool) -> tuple[Step, ...] | None:
        """Each question of a turn by itself; None when none is known. must_be_sure: all of them are, each by its own hot entry."""
        alone, answers = replace(dialogue, history=(), clarified=0), []
        for question in asked.questions:
            found = self._find(question, alone)
            steps = self._stored_steps(found if must_be_sure else await self._meant(found, alone))
            if steps and self._fits(asked.told(question), steps, must_be_sure=must_be_sure):
                answers.append(steps)
        is_all = len(answers) == len(asked.questions)
        if not answers or (must_be_sure and (len(answers) == 1 or not is_all or not are_apart(answers))):
            return None
        return together(answers, is_all=is_all)

    def _fits(self, told: str, steps: tuple[Step, ...], *, must_be_sure: bool) -> bool:
        """An answer, and what was told besides does not speak against it."""
        routed = steps[0]
        if not isinstance(routed, Routed) or routed.route not in ({Route.HOT} if must_be_sure else {Route.HOT, Route.STORED}):
            return False
        entries = (entry for entry in self.entries if entry.id in routed.source_ids)
        found = (doubt for entry in entries for doubt in self.doubts_of(told, entry))
        return not any(doubt.about is About.POLARITY or (doubt.hard and not is_of_a_story(doubt)) for doubt in found)

    def _follow_steps(self, found: _Found) -> tuple[Step, ...] | None:
        if found.topic is None or found.open:
            return None
        follow = follow_up(found.asked, found.topic, self._spoken(found.today), region=self._settings.region, words=self._words)
        if follow is None:
            return None
        spoken = phrases.CHECKED_AGAIN + follow.text if follow.objection else follow.text
        return speak(Route.STORED, spoken, 0.8, f"follow-up on {found.topic.id}", follow.entry)

    # ------------------------------------------------------------ the engine

    def _written(
        self, engine: Engine, question: MaskedText, found: _Found, dialogue: Dialogue, stored: tuple[Step, ...] | None
    ) -> AsyncGenerator[Step, None] | None:
        """The answer as an engine writes it; None where it is not its to give."""
        match = self._pool.match_meant if found.meant else self._pool.match_stored
        why_not = "names a matter only" if found.mere else barred(found.asked, match(found.asked, found.passages), stored)
        if not why_not and found.meant and stored is None:
            why_not = "no passage is sure enough"
        if why_not:
            dialogue.note(f"engine not asked: {why_not}")
            return None
        return written_steps(engine, question, found.passages[0], dialogue, self._settings, stored or ())

    # ------------------------------------------------------------ not known

    def _unknown_steps(self, found: _Found, dialogue: Dialogue, intent: Intent | None, turn: Asked) -> tuple[Step, ...]:
        """One clarifying question, or the offer to register a complaint; after that a person."""
        best = found.passages[0] if found.passages else None
        why = (self._pool.match_meant if found.meant else self._pool.match_stored)(found.asked, found.passages).why
        if dialogue.clarified >= self._settings.clarifications:
            spoken = phrases.NOT_KNOWN if best else phrases.STILL_UNCLEAR
            return to_person(Route.UNKNOWN, spoken, "not_in_kb", why)
        offers = self._offers(found)
        if not offers and turn.questions:
            offers = self._offers(self._find(turn.questions[-1], replace(dialogue, history=(), clarified=0)))
        if can_register(found.said, best, intent, is_offered=bool(offers)):
            return speak(Route.CLARIFY, phrases.CAN_BE_REGISTERED + phrases.REGISTER, 0.5, f"to be registered; {why}")
        if not offers:
            return speak(Route.CLARIFY, phrases.SAY_OTHERWISE, sure(best.score if best else 0.0), why)
        elsewhere = any(doubt.about is About.REGION for doubt in self.doubts_of(found.asked, offers[0]))
        asked = phrases.did_you_mean([entry.question for entry in offers], offers[0].region if elsewhere else "")
        return speak(Route.CLARIFY, asked, sure(best.score if best else 0.0), why, *offers)

    def _offers(self, found: _Found) -> tuple[Entry, ...]:
        """One or two candidates worth asking about: near each other, and about the caller's thing."""
        if is_bare(found.asked):
            return ()
        at_least = _OFFER_MEANT_FROM if found.meant else _OFFER_FROM
        near = [passage for passage in found.passages if passage.score >= at_least and self._same_thing(found.asked, passage.entry)]
        near = [p for p in near if not any(d.hard for d in self.doubts_of(found.asked, p.entry))] or near
        return tuple(passage.entry for passage in near[:2] if near[0].score - passage.score < self._settings.hot_margin)

    def _same_thing(self, asked: str, entry: Entry) -> bool:
        return not any(doubt.about is About.WORD for doubt in self.doubts_of(asked, entry))

    def _offered(self, dialogue: Dialogue) -> tuple[Entry, ...]:
        """The candidates of our last question, found again in what was played."""
        if last_route(dialogue) not in {Route.CLARIFY, Route.REPEAT}:
            return ()
        said = dialogue.history[-1].said
        if said == phrases.WHICH_OF_TWO and len(dialogue.history) > 1:
            said = dialogue.history[-2].said
        entries = self._spoken(dialogue.today)
        named = sorted((said.index(entry.question), entry.id, entry) for entry in entries if entry.question in said)
        return tuple(entry for _, _, entry in named[:2])
