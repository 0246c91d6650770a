//! Field lists: the metadata that a clone, resubmit or recirculate keeps.

use hir::{AnnotationBody, AnnotationValue, Expr, ExprKind, TypeId};
use ir::{FieldList, FieldListId};
use num_traits::ToPrimitive;

use crate::context::{Lower, R, Shared, fail};
use crate::effects::overlap;
use crate::layout::Shape;

impl Lower<'_> {
    /// Collects the lists that `@field_list(n, ...)` in user metadata names.
    pub fn annotated_field_lists(&mut self) {
        let Some(Shared { metadata: (place, ty), .. }) = self.shared else { return };
        self.collect_field_lists(ty, place.offset);
    }

    /// A field's numbers hold for all that is in it.
    fn collect_field_lists(&mut self, ty: TypeId, base: u32) {
        let layout = self.layout(ty);
        let Shape::Struct(members) = &layout.shape else { return };
        let program = self.hir;
        let fields = program.types.fields(ty).unwrap_or_default();
        for (member, field) in members.iter().zip(fields) {
            let at = base + member.offset;
            let size = self.layout(member.ty).size;
            for annotation in field.annotations.iter().filter(|annotation| annotation.name == "field_list") {
                let AnnotationBody::Exprs(values) = &annotation.body else {
                    self.diagnostics
                        .error(annotation.span, "a field list is a constant number, as in `@field_list(1)`");
                    continue;
                };
                for value in values {
                    let number = match value {
                        AnnotationValue::Int(number) => number.to_u8(),
                        _ => None,
                    };
                    match number {
                        Some(number) => {
                            let list = self.numbered(number);
                            add_place(&mut self.out.field_lists[list], (at, size));
                        }
                        None => self.diagnostics.error(annotation.span, "a field list is a number from 0 to 255"),
                    }
                }
            }
            self.collect_field_lists(member.ty, at);
        }
    }

    fn numbered(&mut self, number: u8) -> FieldListId {
        if let Some(id) = self.field_lists.get(&number) {
            return *id;
        }
        let id = self.out.field_lists.push(FieldList { number: Some(number), places: Vec::new() });
        self.field_lists.insert(number, id);
        id
    }

    /// The list with the number that an expression gives; one that no field is in is empty.
    pub fn field_list(&mut self, number: &Expr) -> R<FieldListId> {
        let number = self.constant_number::<u8>(number, "the number of a field list")?;
        Ok(self.numbered(number))
    }

    /// The list of the variables in an old-style call's data.
    pub fn field_list_of(&mut self, data: &Expr) -> R<FieldListId> {
        let mut list = FieldList::default();
        self.collect_places(data, &mut list)?;
        let found =
            self.out.field_lists.iter().find(|(_, known)| known.number.is_none() && known.places == list.places);
        if let Some((id, _)) = found {
            return Ok(id);
        }
        Ok(self.out.field_lists.push(list))
    }

    fn collect_places(&mut self, data: &Expr, list: &mut FieldList) -> R<()> {
        match &data.kind {
            ExprKind::Aggregate(items) => return items.iter().try_for_each(|item| self.collect_places(item, list)),
            ExprKind::Cast(inner) => return self.collect_places(inner, list),
            // A constant needs no keeping.
            _ if self.constant(data).is_some() => return Ok(()),
            _ => {}
        }
        let shared = (0, self.out.frame.persistent);
        match self.extent_of(data) {
            Some(place) if overlap(place, shared) && place.1 <= shared.1 => {
                add_place(list, (place.0, place.1 - place.0));
                Ok(())
            }
            _ => fail(data.span, "only headers and metadata of the program can be kept with the packet"),
        }
    }
}

/// Adds bytes to a list unless they are in it; neighbours become one.
fn add_place(list: &mut FieldList, (offset, bytes): (u32, u32)) {
    if bytes == 0 || list.places.iter().any(|(at, size)| *at <= offset && offset + bytes <= at + size) {
        return;
    }
    match list.places.last_mut() {
        Some((at, size)) if *at + *size == offset => *size += bytes,
        _ => list.places.push((offset, bytes)),
    }
}
