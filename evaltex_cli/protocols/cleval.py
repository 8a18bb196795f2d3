"""CLEval (Baek, Nam, Park, Lee, Shin, Baek, Lee, Lee, CVPR workshops 2020): evaluation by characters.

Task: text detection, and end-to-end recognition where detections bear transcriptions. The characters of a ground-truth
object are taken to stand evenly along it; a detection is matched with the objects whose characters it includes, and
what counts are characters found, lost and found twice, less a penalty for every object in pieces and every detection
of several objects. Equation and algorithm numbers are the paper's.

`reference=official` (default) gives what the authors' program prints (its state of 2023), `reference=paper` the paper's
figures. Where the official program departs from the paper, and which way that moves the score:

1. A false positive counts as height over width characters, not width over height: precision rises with wide ones and
   falls with narrow ones (vertex order decides which side is which; a polygon always counts as one).
2. A detection dropped as don't care still stands in the way of one-to-one matches: recall and precision fall.
3. Objects higher than twice their width are read from the bottom to the top.
4. The threshold of area precision is 0.3, and each object has to reach it by itself: Eq. 3 takes the union, and 0.5.
5. Numerators are clipped at 0 once, for the data set, not for every image.

Unlike the official program: coordinates may be fractions; a polygon without transcription has no characters (it
crashes); objects are visited in the ground truth's order (it takes that of a Python set).

Empty cases: 0/0 is 0. An image without objects, or with don't-care objects only, adds its false positives and nothing
else. End-to-end scores are None where no detection bears a transcription.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols.base import (
    Evidence,
    Matches,
    Protocol,
    Remark,
    Scores,
    Totals,
    harmonic_mean,
    per_image,
    ratio,
    remark,
)
from evaltex_cli.protocols.characters import CASE_MAPPINGS, NORMALISATIONS, UNITS, Text, texts_of
from evaltex_cli.protocols.cleval_matching import Inclusions, Matching, inclusions, match, without_words
from evaltex_cli.protocols.cleval_shapes import (
    Side,
    aspects,
    centres,
    centres_inside,
    false_positive_lengths,
    lengths_by_aspect,
    overlap_areas,
    side_of,
)
from evaltex_cli.protocols.cleval_text import MatchedPairs, credited_characters
from evaltex_cli.protocols.relations import matches
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Overlaps, count_texts

DONT_CARE = "###"
POLYGON_FORMATS = frozenset({"polygon", "totaltext", "ctw1500", "ctw1500-offsets"})


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of CLEval."""

    reference: str = field(
        default="official",
        metadata={"help": "score as the authors' program, or as the paper", "choices": ("official", "paper")},
    )
    area_precision: float = field(
        default=0.0,
        metadata={
            "help": "least share of a detection inside an object (Eq. 4); 0 = 0.3 official, 0.5 paper",
            "min": 0.0,
            "max": 1.0,
        },
    )
    recall_granularity_penalty: float = field(
        default=1.0, metadata={"help": "characters lost with each further detection of an object (Eq. 7)", "min": 0.0}
    )
    precision_granularity_penalty: float = field(
        default=1.0, metadata={"help": "characters lost with each further object of a detection (Eq. 7)", "min": 0.0}
    )
    vertical_aspect: float = field(
        default=0.0,
        metadata={
            "help": "vertical: width/height below it (official; 0 = 0.5), height/width from it on (paper; 0 = 1.5)",
            "min": 0.0,
        },
    )
    annotation: str = field(
        default="auto",
        metadata={
            "help": "four vertices are a quadrilateral, or a polygon; auto: a polygon in files of format polygon",
            "choices": ("auto", "quad", "polygon"),
        },
    )
    case_sensitive: bool = field(default=True, metadata={"help": "upper and lower case letters are different"})
    case_mapping: str = field(
        default="upper",
        metadata={"help": "where case does not count: upper-case texts, or fold them", "choices": CASE_MAPPINGS},
    )
    normalisation: str = field(
        default="none", metadata={"help": "Unicode normalisation of transcriptions", "choices": NORMALISATIONS}
    )
    character: str = field(
        default="code_point",
        metadata={"help": "what a character is; grapheme needs the extra 'graphemes'", "choices": UNITS},
    )
    scale_bins: str = field(
        default="",
        metadata={"help": "edges of scale-wise results: shorter side / longer side of the image, 0,0.01,0.1,1 say"},
    )

    def __post_init__(self) -> None:
        self.bins()

    @property
    def official(self) -> bool:
        """Whether the reference is the authors' program."""
        return self.reference == "official"

    @property
    def threshold(self) -> float:
        """Least area precision."""
        return self.area_precision or (0.3 if self.official else 0.5)

    def bins(self) -> list[tuple[float, float]]:
        """Lowest and highest scale of each bin, both inclusive.

        Raises
        ------
        ConfigError
            When the edges are not numbers that rise.
        """
        if not self.scale_bins:
            return []
        try:
            edges = [float(edge) for edge in self.scale_bins.split(",")]
        except ValueError:
            edges = []
        bins = list(pairwise(edges))
        if not bins or not all(low < high for low, high in bins):
            raise ConfigError(
                f"scale_bins is {quote(self.scale_bins)}; expected two or more rising numbers with commas between"
                " them, 0,0.01,0.1,1 say"
            )
        return bins


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What of a batch does not depend on which objects are don't care.

    Attributes
    ----------
    owner : (c,) int64
        The object of each character.
    overlap : (o,) int64, int64, float64
        Pairs (gt, det) that overlap, and by which area.
    gt_length, det_length : (G,), (D,) int64
        Number of characters of each object, and of each detection's transcription.
    false_positive_length : (D,) int64
        Characters of each detection, were it a false positive.
    det_rank : (D,) int64
        The detections' order: by falling confidence where they have any.
    gt_texts, det_texts : sequences of Text
    """

    gt: Side
    det: Side
    gt_image: Ints
    det_image: Ints
    images: int
    owner: Ints
    found: Inclusions
    overlap: tuple[Ints, Ints, Floats]
    gt_length: Ints
    det_length: Ints
    false_positive_length: Ints
    det_rank: Ints
    gt_texts: Sequence[Text]
    det_texts: Sequence[Text]


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """What matching gives: of each object (G,) and detection (D,).

    Attributes
    ----------
    splits, merges : (G,), (D,) int64
        Partners.
    gt_found, gt_included : (G,) int64
        Characters found, and how often they were.
    det_correct : (D,) float64
        Characters right; of one found twice the first detection has it (official), or all have a share (paper).
    det_included : (D,) int64
        Characters included.
    gt_credit, det_credit : (G,), (D,) int64
        Characters credited end-to-end.
    """

    matching: Matching
    splits: Ints
    merges: Ints
    gt_found: Ints
    gt_included: Ints
    det_correct: Floats
    det_included: Ints
    gt_credit: Ints
    det_credit: Ints


def convention(parameters: Parameters) -> Convention:
    """Quadrilaterals with coordinates cut to integers."""
    return Convention(truncated=parameters.annotation != "polygon")


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool) -> Evidence:
    """Match a batch and sum what its images contribute.

    Parameters
    ----------
    batch : ImageBatch
    overlaps : Overlaps
    parameters : Parameters
    with_matches : bool
        Whether to return each object's match too.

    Raises
    ------
    ConfigError
        When characters are to be grapheme clusters and the package for it is not installed.
    InputError
        When scale-wise results are asked for and an image's size is not known.
    """
    dont_care = batch.gt.dont_care
    scene = _scene(batch, overlaps, parameters)
    counts = _counts(scene, dont_care, parameters)
    columns = _columns(scene, counts, dont_care, parameters)
    if parameters.scale_bins:
        columns |= _scale_columns(batch, scene, parameters)
    found = _matches(scene, counts, dont_care, parameters) if with_matches else None
    return Evidence(columns, found, _warnings(batch, scene))


def _scene(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> _Scene:
    taken = convention(parameters)
    all_polygons = parameters.annotation == "polygon" or (
        parameters.annotation == "auto" and not POLYGON_FORMATS.isdisjoint(batch.formats)
    )
    gt, det = side_of(batch.gt, taken, all_polygons), side_of(batch.det, taken, all_polygons)
    gt_aspect, det_aspect = aspects(gt, parameters.official), aspects(det, parameters.official)
    gt_texts, det_texts = (
        texts_of(
            texts,
            parameters.character,
            parameters.normalisation,
            parameters.case_sensitive,
            parameters.case_mapping,
        )
        for texts in (batch.gt.texts, _det_texts(batch, det_aspect))
    )
    gt_length, det_length = (np.fromiter(map(len, texts), np.int64, len(texts)) for texts in (gt_texts, det_texts))
    gt_length = np.where(batch.gt.dont_care, lengths_by_aspect(gt_aspect), gt_length)
    if parameters.official:
        vertical = gt_aspect < (parameters.vertical_aspect or 0.5)
    else:
        vertical = gt_aspect >= (parameters.vertical_aspect or 1.5)
    owner, points = centres(gt, gt_length, vertical)
    centre, within = centres_inside(owner, points, gt.offsets, len(gt_length), det)
    return _Scene(
        gt=gt,
        det=det,
        gt_image=batch.gt.image,
        det_image=batch.det.image,
        images=len(batch.names),
        owner=owner,
        found=inclusions(centre, within, owner, batch.det.count),
        overlap=overlap_areas(overlaps, gt, det),
        gt_length=gt_length,
        det_length=det_length,
        false_positive_length=false_positive_lengths(det_aspect),
        det_rank=_ranks(batch),
        gt_texts=gt_texts,
        det_texts=det_texts,
    )


def _det_texts(batch: ImageBatch, aspect: Floats) -> Sequence[str]:
    """Transcriptions of the detections; ``###`` stands for as many characters as fit in, as in ground truth."""
    texts = batch.det.texts
    if not count_texts(texts):
        return [""] * batch.det.count
    lengths = lengths_by_aspect(aspect).tolist()
    return ["#" * length if text == DONT_CARE else text for text, length in zip(texts, lengths, strict=True)]


def _ranks(batch: ImageBatch) -> Ints:
    ranks = np.arange(batch.det.count)
    if batch.det.confidences is None:
        return ranks
    falling = np.lexsort((ranks, np.nan_to_num(-batch.det.confidences, nan=np.inf), batch.det.image))
    result = np.empty_like(ranks)
    result[falling] = ranks
    return result


def _counts(scene: _Scene, dont_care: Bools, parameters: Parameters) -> _Counts:
    """Match objects and detections and count characters, `dont_care` being left out."""
    found, objects, detections = scene.found, len(scene.gt_length), len(scene.det_rank)
    area = without_words(scene.overlap, scene.gt, scene.det, dont_care)
    overlap = (scene.overlap[0], scene.overlap[1], area)
    matching = match(found, overlap, scene.det.area, dont_care, parameters.threshold, parameters.official)
    matched = matching.matched
    splits = np.bincount(found.pair_gt[matched], minlength=objects)
    merges = np.bincount(found.pair_det[matched], minlength=detections)

    counted = matched[found.pair]
    centre, det, pair = found.centre[counted], found.det[counted], found.pair[counted]
    order = np.lexsort((scene.det_rank[det], centre))
    centre, det, pair = centre[order], det[order], pair[order]
    first = np.diff(centre, prepend=-1) > 0
    times = np.bincount(centre, minlength=len(scene.owner))
    share = first.astype(np.float64) if parameters.official else 1 / times[centre]
    gt_credit, det_credit = np.zeros(objects, np.int64), np.zeros(detections, np.int64)
    if scene.det_length.any():
        by_rank = np.flatnonzero(matched)
        by_rank = by_rank[np.lexsort((scene.det_rank[found.pair_det[by_rank]], found.pair_gt[by_rank]))]
        place = np.zeros(len(matched), np.int64)
        place[by_rank] = np.arange(len(by_rank))
        pairs = MatchedPairs(found.pair_gt[by_rank], found.pair_det[by_rank], place[pair], centre, merges)
        gt_credit, det_credit = credited_characters(pairs, scene.gt_texts, scene.det_texts, parameters.official)
    return _Counts(
        matching=matching,
        splits=splits,
        merges=merges,
        gt_found=np.bincount(scene.owner[centre[first]], minlength=objects),
        gt_included=np.bincount(scene.owner[centre], minlength=objects),
        det_correct=np.bincount(det, weights=share, minlength=detections).astype(np.float64),
        det_included=np.bincount(det, minlength=detections),
        gt_credit=gt_credit,
        det_credit=det_credit,
    )


def _columns(scene: _Scene, counts: _Counts, dont_care: Bools, parameters: Parameters) -> dict[str, NDArray[Any]]:
    """Evidence of each image."""
    cared, kept = ~dont_care, ~counts.matching.dropped

    def by_gt(values: NDArray[Any]) -> NDArray[Any]:
        return per_image(values[cared], scene.gt_image[cared], scene.images)

    def by_det(values: NDArray[Any]) -> NDArray[Any]:
        return per_image(values[kept], scene.det_image[kept], scene.images)

    false_positive = counts.merges == 0
    lengths = scene.det_length
    characters, found, included = by_gt(scene.gt_length), by_gt(counts.gt_found), by_gt(counts.gt_included)
    false_characters = by_det(np.where(false_positive, scene.false_positive_length, 0))
    split_penalty = by_gt(np.maximum(counts.splits - 1, 0)) * parameters.recall_granularity_penalty
    merge_penalty = by_det(np.maximum(counts.merges - 1, 0)) * parameters.precision_granularity_penalty
    correct = by_gt(counts.gt_credit)
    least = -np.inf if parameters.official else 0.0
    return {
        "gt_objects": np.diff(scene.gt.offsets),
        "counted_gt_objects": by_gt(cared),
        "detections": np.diff(scene.det.offsets),
        "counted_detections": by_det(kept),
        "gt_characters": characters,
        "detected_characters": included + false_characters,
        "found_characters": found,
        "missed_characters": characters - found,
        "overlapped_characters": included - found,
        "false_positive_characters": false_characters,
        "splits": by_gt(counts.splits > 1),
        "merges": by_det(counts.merges > 1),
        "recall_credit": np.maximum(found - split_penalty, least),
        "precision_credit": np.maximum(found - merge_penalty, least),
        "transcribed_detections": per_image(lengths > 0, scene.det_image, scene.images),
        "recognised_characters": by_det(lengths),
        "correct_characters": correct,
        "e2e_recall_credit": np.maximum(correct - split_penalty, least),
        "e2e_precision_credit": np.maximum(correct - merge_penalty, least),
        "matched_characters": by_det(np.where(false_positive, 0, np.maximum(lengths, counts.det_included))),
    }


SCALE_COLUMNS = (
    "gt_characters",
    "detected_characters",
    "recall_credit",
    "precision_credit",
    "recognised_characters",
    "e2e_recall_credit",
    "e2e_precision_credit",
)


def _scale_columns(batch: ImageBatch, scene: _Scene, parameters: Parameters) -> dict[str, NDArray[Any]]:
    """Evidence of each image and bin, objects of other scales being don't care."""
    longer = batch.sizes.max(axis=1, initial=0.0)
    unknown = np.flatnonzero((longer <= 0) & (np.diff(batch.gt.offsets) > 0))
    if len(unknown):
        raise InputError(
            f"image {quote(batch.names[int(unknown[0])])} has no height and width, which scale_bins needs; give the"
            " ground truth in a format that has them (EvaLTex .txt), or leave out scale_bins"
        )
    scale = shorter_sides(scene.gt) / longer[scene.gt_image]
    bins = []
    for low, high in parameters.bins():
        dont_care = batch.gt.dont_care | (scale < low) | (scale > high)
        bins.append(_columns(scene, _counts(scene, dont_care, parameters), dont_care, parameters))
    return {f"scale_{name}": np.stack([columns[name] for columns in bins], axis=1) for name in SCALE_COLUMNS}


def shorter_sides(side: Side) -> Floats:
    """(n,) shorter sides of the smallest rectangles around the vertices, corners rounded to whole pixels."""
    import shapely

    result = np.zeros(len(side.starts) - 1)
    if not len(result):
        return result
    owner = np.repeat(np.arange(len(result)), np.diff(side.starts))
    around: Any = shapely.oriented_envelope(shapely.multipoints(side.vertices, indices=owner))
    is_area = np.flatnonzero(shapely.get_type_id(around) == shapely.GeometryType.POLYGON)
    corners = np.rint(shapely.get_coordinates(around[is_area])).reshape(-1, 5, 2)
    edges = np.diff(corners, axis=1)
    lengths = np.sqrt(edges[..., 0] ** 2 + edges[..., 1] ** 2)
    result[is_area] = np.minimum(lengths[:, 0] + lengths[:, 2], lengths[:, 1] + lengths[:, 3]) / 2
    return result


def _matches(scene: _Scene, counts: _Counts, dont_care: Bools, parameters: Parameters) -> Matches:
    """Per-object results; end-to-end values are undefined in images where no detection bears a transcription."""
    matched = counts.matching.matched
    end_to_end = per_image(scene.det_length > 0, scene.det_image, scene.images) > 0
    gt_read, det_read = end_to_end[scene.gt_image], end_to_end[scene.det_image]
    gt_values = {
        "characters": scene.gt_length,
        "found_characters": counts.gt_found,
        "missed_characters": scene.gt_length - counts.gt_found,
        "overlapped_characters": counts.gt_included - counts.gt_found,
        "granularity_penalty": np.maximum(counts.splits - 1, 0) * parameters.recall_granularity_penalty,
        "credited_characters": np.where(gt_read, counts.gt_credit, np.nan),
    }
    det_values = {
        "included_characters": counts.det_included,
        "correct_characters": counts.det_correct,
        "false_positive_characters": np.where(counts.merges == 0, scene.false_positive_length, 0),
        "granularity_penalty": np.maximum(counts.merges - 1, 0) * parameters.precision_granularity_penalty,
        "recognised_characters": np.where(det_read, scene.det_length, np.nan),
        "credited_characters": np.where(det_read, counts.det_credit, np.nan),
    }
    gt, det = scene.found.pair_gt[matched], scene.found.pair_det[matched]
    return matches(gt, det, ~dont_care, ~counts.matching.dropped, gt_values, det_values)


def _warnings(batch: ImageBatch, scene: _Scene) -> tuple[Remark, ...]:
    """Name the images where objects bear no transcription; the official program crashes if these are polygons."""
    text = "cleval: {count} ground-truth objects bear no transcription; they have no characters and match nothing"
    return remark(f"{text} (in {{images}})", batch, scene.gt_length == 0)


def scores(totals: Totals, parameters: Parameters) -> Scores:
    """Scores (Eq. 9, 10, 11) and attributes of summed evidence; 0/0 is 0.

    Parameters
    ----------
    totals : mapping
        The sums of the columns of `evidence`, over a dataset or of one image.
    parameters : Parameters
    """
    end_to_end = totals["transcribed_detections"] > 0
    result: Scores = _recall_precision(totals, end_to_end)
    result["recognition_score"] = (
        ratio(totals["correct_characters"], totals["matched_characters"]) if end_to_end else None
    )
    for name in (
        "splits",
        "merges",
        "missed_characters",
        "overlapped_characters",
        "false_positive_characters",
    ):
        result[name] = totals[name]
    if parameters.scale_bins:
        result["scale_wise"] = [
            {"lowest_scale": low, "highest_scale": high}
            | _recall_precision({name: totals[f"scale_{name}"][k] for name in SCALE_COLUMNS}, end_to_end)
            for k, (low, high) in enumerate(parameters.bins())
        ]
    return result


def _recall_precision(totals: Totals, end_to_end: bool) -> Scores:
    result: Scores = {}
    for prefix, answers in (("", "detected_characters"), ("e2e_", "recognised_characters")):
        recall = ratio(totals[f"{prefix}recall_credit"], totals["gt_characters"])
        precision = ratio(totals[f"{prefix}precision_credit"], totals[answers])
        result[f"{prefix}recall"] = recall
        result[f"{prefix}precision"] = precision
        result[f"{prefix}hmean"] = harmonic_mean(recall, precision)
    return result if end_to_end else {name: None if name.startswith("e2e") else value for name, value in result.items()}


def object_credit(values: Mapping[str, Any]) -> float:
    """Share of an object's characters that were found, less its granularity penalty."""
    found = (values["found_characters"] or 0.0) - (values["granularity_penalty"] or 0.0)
    return max(0.0, found / values["characters"]) if values["characters"] else 0.0


PROTOCOL = Protocol(
    name="cleval",
    title="CLEval: detection and end-to-end recognition by characters",
    version=1,
    parameters=Parameters,
    evidence=evidence,
    scores=scores,
    headline=("recall", "precision", "hmean"),
    convention=convention,
    takes_masks=False,
    object_credit=object_credit,
)
